"""Time that passes only while every thread waits: an hour of metering takes a second, and always goes the same way."""

import _thread
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, Self

from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.meter_check.replacing import Pair, attributes, replaced

STUCK_AFTER_S = 10.0
"""Real seconds without any progress after which a meter counts as stuck."""
END_LIMIT_S = 2.0
"""Real seconds that left-over threads get to end."""
EPOCH_S = 1_790_000_000.0
NO_LIMIT_S = -1.0
NS_PER_S = 1_000_000_000

# Kept out of reach of `replaced`, which looks only at the names of modules.
_REAL = SimpleNamespace(
    lock=_thread.allocate_lock,
    start=threading.Thread.start,
    join=threading.Thread.join,
    sleep=time.sleep,
    clock_gettime=time.clock_gettime,
)


class MeterStuck(ControllerError):
    """The meter under test waits for something that virtual time cannot bring."""


class _CaseOver(SystemExit):
    """Ends a thread that its meter left behind."""


@dataclass(eq=False, slots=True)
class _Waiter:
    """A thread that waits; `counted` if time may pass only while it does."""

    counted: bool
    is_main: bool
    timeout_s: float | None
    deadline_s: float | None
    wake: Any
    outcome: Literal["waiting", "woken", "timed out", "over", "stuck"] = "waiting"


class VirtualTime:
    """The clocks, the waits and the threads of one case, for the thread that made it and those started from there."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        """The monotonic clock."""
        self.on_advance: Callable[[], None] = lambda: None
        self._suspensions: list[tuple[float, float]] = []
        self._mutex = _REAL.lock()
        self._main = _thread.get_ident()
        self._counted = {self._main}
        self._running = 1
        self._steps = 0
        self._waiters: list[_Waiter] = []
        self._joiners: dict[threading.Thread, deque[_Waiter]] = {}
        self._open = True
        self.stuck: MeterStuck | None = None
        """Kept here too, in case the meter swallows it."""

    def suspend(self, after_s: float, seconds: float) -> None:
        """Let the machine sleep from `after_s` from now on: only the clocks that count through a sleep notice."""
        self._suspensions.append((self.now_s + after_s, seconds))

    def boot_time_s(self) -> float:
        """The clock that goes on while the machine sleeps."""
        return self.now_s + sum(seconds for at_s, seconds in self._suspensions if at_s <= self.now_s)

    def wall_s(self) -> float:
        return EPOCH_S + self.boot_time_s()

    def clock_s(self, clock_id: int) -> float:
        """Stand for `time.clock_gettime`."""
        through_sleep = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
        if clock_id == time.CLOCK_REALTIME:
            return self.wall_s()
        if clock_id == through_sleep:
            return self.boot_time_s()
        return self.now_s if clock_id == time.CLOCK_MONOTONIC else float(_REAL.clock_gettime(clock_id))

    def sleep(self, seconds: float) -> None:
        """Stand for `time.sleep`."""
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        with self._mutex:
            waiter = self._park(seconds)
        self._rest(waiter)

    def start_thread(self, thread: threading.Thread) -> None:
        """Stand for `Thread.start`: time also waits for the new thread."""
        if not self._is_counted():
            _REAL.start(thread)
            return
        run = thread.run

        def counted_run() -> None:
            with self._mutex:
                self._counted.add(_thread.get_ident())
            try:
                with suppress(_CaseOver):
                    run()
            finally:
                self._end(thread)

        with self._mutex:
            self._running += 1
            self._joiners[thread] = deque()
        thread.run = counted_run  # type: ignore[method-assign]  # each kind of thread has a run of its own
        try:
            _REAL.start(thread)
        except RuntimeError:  # started before, or no more threads to be had
            self._end(thread)
            raise

    def join_thread(self, thread: threading.Thread, timeout: float | None = None) -> None:
        """Stand for `Thread.join`."""
        with self._mutex:
            joiners = self._joiners.get(thread) if self._is_counted() else None
            waiter = None if joiners is None else self._park(timeout, joiners)
        if waiter is None:
            _REAL.join(thread, timeout)
        elif self._rest(waiter):
            _REAL.join(thread)

    def close(self) -> None:
        """End the threads that the meter left behind; what waits on our locks from now on waits in real time."""
        with self._mutex:
            self._open = False
            for waiter in [waiter for waiter in self._waiters if waiter.counted]:
                self._wake(waiter, "over")
            left = list(self._joiners)
        for thread in left:
            _REAL.join(thread, END_LIMIT_S)

    def pairs(self) -> list[Pair]:
        """Every function of `time` that tells or waits, and a stand-in of its own for each."""
        clocks = {"monotonic": self._monotonic_s, "perf_counter": self._monotonic_s, "time": self.wall_s}
        pairs: list[Pair] = [(getattr(time, name), clock) for name, clock in clocks.items()]
        pairs += [(getattr(time, f"{name}_ns"), _in_ns(clock)) for name, clock in clocks.items()]
        pairs += [(time.clock_gettime, self.clock_s), (time.clock_gettime_ns, _in_ns(self.clock_s))]
        return [*pairs, (time.sleep, self.sleep)]

    def _monotonic_s(self) -> float:
        return self.now_s

    def _is_counted(self) -> bool:
        return self._open and _thread.get_ident() in self._counted

    def _park(self, timeout_s: float | None, queue: deque[_Waiter] | None = None) -> _Waiter:
        """Register the calling thread as waiting; the mutex is held."""
        counted = self._is_counted()
        wake = _REAL.lock()
        wake.acquire()
        deadline_s = self.now_s + timeout_s if counted and timeout_s is not None else None
        waiter = _Waiter(counted, _thread.get_ident() == self._main, timeout_s, deadline_s, wake)
        self._waiters.append(waiter)
        if queue is not None:
            queue.append(waiter)
        if counted:
            self._running -= 1
            self._settle()
        return waiter

    def _rest(self, waiter: _Waiter) -> bool:
        """Wait; the mutex is free. Return whether somebody woke us, rather than time."""
        if not waiter.counted:
            self._rest_in_real_time(waiter)
        elif waiter.is_main:
            self._rest_watchfully(waiter)
        else:
            waiter.wake.acquire()
        if waiter.outcome == "over":
            raise _CaseOver
        if waiter.outcome == "stuck":
            self.stuck = MeterStuck(f"the meter got stuck: {self._who_runs()}")
            raise self.stuck
        return waiter.outcome == "woken"

    def _rest_in_real_time(self, waiter: _Waiter) -> None:
        if not waiter.wake.acquire(timeout=NO_LIMIT_S if waiter.timeout_s is None else waiter.timeout_s):
            self._wake_late(waiter, "timed out")

    def _rest_watchfully(self, waiter: _Waiter) -> None:
        steps = self._steps
        while not waiter.wake.acquire(timeout=STUCK_AFTER_S):
            if steps == self._steps:
                self._wake_late(waiter, "stuck")
            steps = self._steps

    def _wake_late(self, waiter: _Waiter, outcome: Literal["timed out", "stuck"]) -> None:
        with self._mutex:
            if waiter.outcome == "waiting":
                self._wake(waiter, outcome)

    def _wake(self, waiter: _Waiter, outcome: Literal["woken", "timed out", "over", "stuck"]) -> None:
        """The mutex is held."""
        self._waiters.remove(waiter)
        self._running += waiter.counted
        waiter.outcome = outcome
        waiter.wake.release()

    def _wake_first(self, queue: deque[_Waiter]) -> bool:
        """Wake the longest waiting of a queue, if one still waits; the mutex is held."""
        while queue:
            waiter = queue.popleft()
            if waiter.outcome == "waiting":
                self._wake(waiter, "woken")
                return True
        return False

    def _settle(self) -> None:
        """Once every thread waits, time passes until the first of them wakes up; the mutex is held."""
        if self._running or not self._open:
            return
        timed = [(waiter.deadline_s, waiter) for waiter in self._waiters if waiter.deadline_s is not None]
        if timed:
            deadline_s, first = min(timed, key=lambda entry: entry[0])
            self.now_s = max(self.now_s, deadline_s)
            self._steps += 1
            self.on_advance()
            self._wake(first, "timed out")
            return
        for waiter in [waiter for waiter in self._waiters if waiter.is_main]:
            self._wake(waiter, "stuck")

    def _end(self, thread: threading.Thread) -> None:
        with self._mutex:
            joiners = self._joiners.pop(thread)
            while self._wake_first(joiners):
                pass
            self._counted -= {thread.ident}
            self._running -= 1
            self._settle()

    def _who_runs(self) -> str:
        names = ", ".join(thread.name for thread in self._joiners) or "none"
        return f"its threads ({names}) neither end nor wait for a time, an event, a queue or a lock"


class VirtualLock:
    """A lock whose waiting counts as waiting. Conditions, events, queues, semaphores and timers are built on it."""

    time: VirtualTime

    def __init__(self) -> None:
        self._held = False
        self._queue: deque[_Waiter] = deque()

    def acquire(self, blocking: bool = True, timeout: float = NO_LIMIT_S) -> bool:
        clock = self.time
        with clock._mutex:
            if not self._held:
                self._held = True
                return True
            if not blocking or timeout == 0:
                return False
            waiter = clock._park(None if timeout < 0 else timeout, self._queue)
        return clock._rest(waiter)

    def release(self) -> None:
        """Hand the lock to whoever has waited longest, else free it."""
        with self.time._mutex:
            if not self._held:
                raise RuntimeError("release unlocked lock")
            self._held = self.time._wake_first(self._queue)

    def locked(self) -> bool:
        return self._held

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _at_fork_reinit(self) -> None:
        """Asked for by `threading` and `concurrent.futures` in a forked child."""
        self._held = False
        self._queue.clear()


@contextmanager
def passing(clock: VirtualTime, beside: Sequence[Pair] = ()) -> Iterator[None]:
    """Let `clock` rule over time, sleep, locks and new threads of this process; `beside` replaces more functions."""
    lock = type("VirtualLockOfThisCase", (VirtualLock,), {"time": clock})
    # The queue of thread pools: written in C it waits unseen, written in Python on our locks.
    pool_queue = type("QueueOfThisCase", (queue._PySimpleQueue,), {})  # type: ignore[attr-defined]  # not in typeshed
    classes = [(threading.Lock, lock), (queue.SimpleQueue, pool_queue)]
    with ExitStack() as stack:
        stack.enter_context(replaced([*clock.pairs(), *classes, *beside]))
        # _CRLock: without it `threading.RLock` builds on `_allocate_lock`, as everything else does.
        stack.enter_context(attributes(threading, _allocate_lock=lock, _CRLock=None))
        stack.enter_context(attributes(threading.Thread, start=_method(clock.start_thread)))
        stack.enter_context(attributes(threading.Thread, join=_method(clock.join_thread)))
        stack.callback(clock.close)
        yield


def _method(function: Callable[..., None]) -> Callable[..., None]:
    """A bound method would not bind to the thread."""

    def method(*args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)

    return method


def _in_ns(clock: Callable[..., float]) -> Callable[..., int]:
    return lambda *args: round(clock(*args) * NS_PER_S)
