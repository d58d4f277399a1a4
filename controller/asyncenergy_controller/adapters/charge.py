"""A plug held on for a time or until an amount, and off again whatever happens."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from asyncenergy_controller import clock
from asyncenergy_controller.adapters.counter import Counter
from asyncenergy_controller.adapters.outcome import ExitStatus, Outcome
from asyncenergy_controller.adapters.piece import Piece
from asyncenergy_controller.adapters.switch_journal import SwitchJournal
from asyncenergy_controller.errors import ControllerError, MeterError
from asyncenergy_controller.files import FileUnreadable
from asyncenergy_controller.jobs.entry import ChargeRequest
from asyncenergy_controller.meters.plugs.base import Switch
from asyncenergy_controller.meters.plugs.select import open_switch
from asyncenergy_controller.settings import revealed

PERIOD_S = 5.0
SILENT_S = 60.0
"""How long a plug may stay silent before the charge is given up."""
ON_ATTEMPTS, OFF_ATTEMPTS = 3, 10
WAIT_S = 2.0
"""Between two attempts to switch."""
MARGIN_S = 120.0
"""What a plug's own timer gives us beyond the time that we mean to switch off."""
ENOUGH = 0.98
"""A hold that its window cut short by so little is done: windows are planned from how long it took before."""
WH = "Wh"


class SwitchStuck(ControllerError):
    """A plug that could not be switched; the message says whether it may be on."""


def run_charge(request: ChargeRequest, piece: Piece) -> Outcome:
    """Hold the plug on. `done` counts seconds or watt-hours over all pieces. Raises ControllerError, with it off."""
    with closing(open_switch(request.switch, revealed(request.secret), request.energy_entity)) as switch:
        counter = Counter(switch, SILENT_S)
        with suppress(*([MeterError] if request.until_wh is None else [])):  # else it is only for the record
            counter.start()
        with _held_on(switch, request, piece):
            done = _hold(switch, counter, request, piece)
        return _outcome(request, piece, done, counter.final())


def heal_switches(state_dir: Path) -> list[str]:
    """Switch off what a killed process left on, and say so. At every start, and cheap where there is nothing."""
    journal = SwitchJournal(state_dir)
    return [said for path in journal.paths() if (said := _heal(journal, path))]


def _heal(journal: SwitchJournal, path: Path) -> str | None:
    """Return what was done about one plug, or what keeps it from being done; None where it is held."""
    try:
        held = journal.load(path)
        if held.is_held():
            return None
        with closing(open_switch(held.switch, held.secret)) as switch:
            _switch_off(switch, attempts=1)
    except FileUnreadable as error:
        return error.message
    except ControllerError as error:
        return f"{held.switch} may still be on, and is tried again later: {error.message}"
    journal.clear(held.switch)
    return f"{held.switch} was left on by a run that was killed; it is off now."


@contextmanager
def _held_on(switch: Switch, request: ChargeRequest, piece: Piece) -> Iterator[None]:
    """On inside the block. Afterwards off, or noted as perhaps on, with SwitchStuck raised."""
    journal = SwitchJournal(piece.state_dir)
    journal.hold(request.switch, revealed(request.secret))
    try:
        _switch_on(switch, _longest_s(request, piece))
        yield
    finally:
        try:
            _switch_off(switch, attempts=OFF_ATTEMPTS)
        except ControllerError:
            journal.release(request.switch, revealed(request.secret))
            raise
        journal.clear(request.switch)


def _longest_s(request: ChargeRequest, piece: Piece) -> float | None:
    """For the plug's own timer: when we should have switched off long since."""
    leash = piece.leash if request.hold_s is None else piece.leash.shortened(request.hold_s - piece.done)
    return None if leash.kill_at_s is None else leash.left_s(float("inf")) + MARGIN_S


def _hold(switch: Switch, counter: Counter, request: ChargeRequest, piece: Piece) -> float:
    """Return how much is done when it is enough, or when the piece is over."""
    begun_s, heard_s = clock.monotonic(), clock.monotonic()
    done = piece.done
    while done < _wanted(request) and piece.leash.over() is None:
        piece.leash.wait(_nap_s(request, done))
        heard_s = _heard(switch, request.switch, heard_s)
        if request.until_wh is not None:
            done = piece.done + counter.read()
        else:
            done = piece.done + (clock.monotonic() - begun_s) * clock.factor()
    return done


def _heard(switch: Switch, name: str, heard_s: float) -> float:
    """Return when the plug last said that it is on. Raises SwitchStuck where somebody switched it off."""
    now_s = clock.monotonic()
    try:
        if switch.is_on():
            return now_s
    except MeterError:
        if now_s - heard_s < SILENT_S:
            return heard_s
        raise
    raise SwitchStuck(f"{name} was switched off by somebody, so the charge ends")


def _wanted(request: ChargeRequest) -> float:
    """Seconds or watt-hours."""
    return request.hold_s or request.until_wh or 0.0


def _nap_s(request: ChargeRequest, done: float) -> float:
    """Until the plug is looked at again, in seconds of this process."""
    left_s = PERIOD_S if request.hold_s is None else (request.hold_s - done) / clock.factor()
    return max(min(PERIOD_S, left_s), 0.01)


def _switch_on(switch: Switch, at_most_s: float | None) -> None:
    _switch(switch, lambda: switch.turn_on(at_most_s), on=True, attempts=ON_ATTEMPTS)


def _switch_off(switch: Switch, *, attempts: int) -> None:
    _switch(switch, switch.turn_off, on=False, attempts=attempts)


def _switch(switch: Switch, turn: Callable[[], None], *, on: bool, attempts: int) -> None:
    """Raises the last MeterError, or SwitchStuck, where it isn't as wanted after so many attempts."""
    for left in reversed(range(attempts)):
        try:
            turn()
            if switch.is_on() == on:
                return
        except MeterError:
            if not left:
                raise
        if left:
            time.sleep(WAIT_S)
    wanted = "on" if on else "off"
    raise SwitchStuck(f"the {switch.name} switch does not say that it is {wanted} after it was switched {wanted}")


def _outcome(request: ChargeRequest, piece: Piece, done: float, delivered_wh: float | None) -> Outcome:
    """`delivered_wh` is this piece's."""
    unit, wanted = "s" if request.hold_s is not None else WH, _wanted(request)
    kind = None if delivered_wh is None else WH
    if done >= wanted * (1.0 if request.until_wh is not None else ENOUGH):
        return Outcome("success", work_units=delivered_wh, work_unit_kind=kind, done=done)
    status: ExitStatus = "preempted" if piece.leash.over() == "stop" else "error"
    detail = f"{done:.0f} of {wanted:.0f} {unit} when its time was over"
    return Outcome(status, detail, work_units=delivered_wh, work_unit_kind=kind, done=done)
