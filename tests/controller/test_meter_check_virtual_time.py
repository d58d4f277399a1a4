"""Virtual time: it passes only while every thread waits, whatever they wait on, and it leaves nothing behind."""

import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from time import monotonic, sleep

import pytest
from asyncenergy_controller import clock as clocks
from asyncenergy_controller.meter_check.virtual_time import MeterStuck, VirtualTime, passing

HELD_BY_NAME = (monotonic, sleep, threading.Lock, threading.RLock(), queue.SimpleQueue)


def in_virtual_time(test):
    """Only the test itself: pytest, too, looks at the clock."""

    def run():
        clock = VirtualTime()
        with passing(clock):
            test(clock)

    return run


@in_virtual_time
def test_an_hour_passes_at_once(clock):
    begun_s = clock.now_s
    time.sleep(3600)
    assert clock.now_s - begun_s == 3600


@in_virtual_time
def test_every_clock_tells_the_same_time(clock):
    before = [time.time(), time.monotonic(), time.perf_counter(), clocks.monotonic(), time.time_ns() / 1e9]
    sleep(5)  # held by name before virtual time began
    after = [time.time(), time.monotonic(), time.perf_counter(), clocks.monotonic(), time.time_ns() / 1e9]
    assert [round(b - a, 6) for a, b in zip(before, after, strict=True)] == [5] * 5
    assert monotonic() == clock.now_s
    assert time.thread_time() < 1e6


@in_virtual_time
def test_only_clocks_that_count_through_a_sleep_notice_one(clock):
    monotonic_s, boot_s, wall_s = time.monotonic(), time.clock_gettime(time.CLOCK_BOOTTIME), time.time()
    clock.suspend(after_s=2, seconds=600)
    time.sleep(5)
    assert time.monotonic() - monotonic_s == 5
    assert time.clock_gettime(time.CLOCK_BOOTTIME) - boot_s == 605
    assert time.time() - wall_s == 605


@in_virtual_time
def test_threads_take_their_turns_in_the_order_of_time(clock):
    said = []

    def tell(name, *pauses_s):
        for pause_s in pauses_s:
            time.sleep(pause_s)
            said.append((name, clock.now_s - 1000))

    threads = [threading.Thread(target=tell, args=("a", 1, 3)), threading.Thread(target=tell, args=("b", 2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == [("a", 1), ("b", 2), ("b", 3), ("a", 4)]


@in_virtual_time
def test_a_timer_fires_when_its_time_has_come(clock):
    fired = []
    timer = threading.Timer(30, lambda: fired.append(clock.now_s))
    timer.start()
    time.sleep(29)
    assert fired == []
    time.sleep(2)
    assert fired == [1030]


@in_virtual_time
def test_an_event_that_is_set_wakes_at_that_very_time(clock):
    event = threading.Event()
    threading.Timer(7, event.set).start()
    assert event.wait(60)
    assert clock.now_s == 1007
    assert not threading.Event().wait(3)
    assert clock.now_s == 1010


@in_virtual_time
def test_queues_hand_over_and_time_out(clock):
    box = queue.Queue()
    threading.Timer(4, box.put, ("thing",)).start()
    assert box.get(timeout=10) == "thing"
    with pytest.raises(queue.Empty):
        box.get(timeout=5)
    assert clock.now_s == 1009


@in_virtual_time
def test_a_lock_is_waited_for_while_its_holder_sleeps(clock):
    lock = threading.Lock()

    def hold():
        with lock:
            time.sleep(10)

    holder = threading.Thread(target=hold)
    holder.start()
    time.sleep(1)
    assert not lock.acquire(timeout=2)
    with lock:
        assert clock.now_s == 1010
    with pytest.raises(RuntimeError):
        lock.release()


@in_virtual_time
def test_a_reentrant_lock_is_reentrant(clock):
    lock = threading.RLock()
    with lock, lock:
        assert not ThreadPoolExecutor(1).submit(lock.acquire, False).result()


@in_virtual_time
def test_a_join_with_a_limit_comes_back_at_its_limit(clock):
    thread = threading.Thread(target=lambda: time.sleep(100))
    thread.start()
    thread.join(20)
    assert (thread.is_alive(), clock.now_s) == (True, 1020)
    thread.join()
    assert (thread.is_alive(), clock.now_s) == (False, 1100)


@in_virtual_time
def test_a_pool_that_is_left_open_does_not_hold_time_up(clock):
    pool = ThreadPoolExecutor(2)
    assert list(pool.map(lambda seconds: time.sleep(seconds) or seconds, (3, 5))) == [3, 5]
    time.sleep(60)
    assert clock.now_s == 1065


@in_virtual_time
def test_a_thread_that_cannot_start_does_not_hold_time_up(clock):
    thread = threading.Thread(target=lambda: None)
    thread.start()
    thread.join()
    with pytest.raises(RuntimeError, match="once"):
        thread.start()
    time.sleep(60)
    assert clock.now_s == 1060


@in_virtual_time
def test_waiting_for_nothing_is_told(clock):
    with pytest.raises(MeterStuck, match="stuck"):
        threading.Event().wait()


@in_virtual_time
def test_a_negative_sleep_is_refused_as_ever(clock):
    with pytest.raises(ValueError, match="non-negative"):
        time.sleep(-1)


def test_afterwards_everything_is_as_before():
    ended = []

    def left_behind():
        try:
            while True:
                time.sleep(1)
        finally:
            ended.append(True)

    patched = ("start", "join")
    before = [getattr(threading.Thread, name) for name in patched]
    with passing(VirtualTime()):
        held = {"sleep": time.sleep, "Lock": threading.Lock}
        lock = threading.Lock()
        thread = threading.Thread(target=left_behind)
        thread.start()
        time.sleep(10)
    assert ended == [True]
    assert not thread.is_alive()
    assert (time.monotonic, time.sleep, threading.Lock) == (monotonic, sleep, HELD_BY_NAME[2])
    assert (time.sleep, threading.Lock) != (held["sleep"], held["Lock"])
    assert queue.SimpleQueue is HELD_BY_NAME[4]
    assert [getattr(threading.Thread, name) for name in patched] == before
    assert type(threading.RLock()) is type(HELD_BY_NAME[3])
    begun_s = time.perf_counter()
    with lock:  # what was made in virtual time goes on in real time
        assert not lock.acquire(timeout=0.02)
    assert time.perf_counter() - begun_s >= 0.02


def test_a_thread_from_before_goes_on_in_real_time():
    go, slept_s = threading.Event(), []

    def sleeper():
        go.wait()
        begun_ns = time.clock_gettime_ns(time.CLOCK_THREAD_CPUTIME_ID)
        time.sleep(0.01)
        slept_s.append(begun_ns)

    thread = threading.Thread(target=sleeper)
    thread.start()
    clock = VirtualTime()
    with passing(clock):
        go.set()
        thread.join()
    assert slept_s
    assert clock.now_s == 1000
