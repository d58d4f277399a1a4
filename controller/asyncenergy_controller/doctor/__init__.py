"""`doctor`: what this machine can measure, how well, and what to do about the rest."""

from asyncenergy_controller.checks import Check, State
from asyncenergy_controller.doctor.examination import Report, examine

__all__ = ["Check", "Report", "State", "examine"]
