"""Does what a job of jobs.json says. Nothing in here takes a word of the server's.

`run_entry` gets the entry, which was written on this machine, numbers, and ids and paths that this machine made: there
is no way by which an answer of the server could become a command, an argument, a path or a variable.
"""

from asyncenergy_controller.adapters.charge import heal_switches
from asyncenergy_controller.adapters.fingerprint import fingerprint
from asyncenergy_controller.adapters.outcome import ExitStatus, Outcome
from asyncenergy_controller.adapters.preflight import preflight
from asyncenergy_controller.adapters.running import run_entry

__all__ = ["ExitStatus", "Outcome", "fingerprint", "heal_switches", "preflight", "run_entry"]
