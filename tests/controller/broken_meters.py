"""Small meters, one honest and the others broken in one way each, as they are found in the wild."""

import threading
import time
from contextlib import suppress

import pynvml
from asyncenergy_controller.meter_check import CannotMeasure


class Counter:
    """Last minus first reading of the GPU's counter: honest, and lost without a counter."""

    def __init__(self, device):
        if device.kind != "gpu":
            raise CannotMeasure("it knows GPUs only")
        pynvml.nvmlInit()
        self.handle = pynvml.nvmlDeviceGetHandleByIndex(0)

    def read_mj(self):
        return pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle)

    def start(self):
        self.first_mj = self.read_mj()

    def stop(self):
        return self.of_difference((self.read_mj() - self.first_mj) / 1000)

    def of_difference(self, joules):
        return joules


class Zero(Counter):
    def start(self):
        pass

    def stop(self):
        return 0.0


class Nothing(Zero):
    def stop(self):
        return None


class Lifetime(Counter):
    def start(self):
        self.first_mj = 0


class NoBaseline(Counter):
    """A first reading that fails counts as 0."""

    def start(self):
        try:
            super().start()
        except pynvml.NVMLError:
            self.first_mj = 0


class Absolute(Counter):
    def of_difference(self, joules):
        return abs(joules)


class Millijoules(Counter):
    def of_difference(self, joules):
        return joules * 1000


class OneShot(Counter):
    """Shuts the library down after its first window; what fails afterwards is 0."""

    def start(self):
        self.first_mj = self.read_or_0()

    def stop(self):
        joules = (self.read_or_0() - self.first_mj) / 1000
        with suppress(pynvml.NVMLError_Uninitialized):
            pynvml.nvmlShutdown()
        return joules

    def read_or_0(self):
        try:
            return self.read_mj()
        except pynvml.NVMLError_Uninitialized:
            return 0


class Polling(Counter):
    """Integrates power that a thread polls at 5 Hz; what can't be read is left out, holes are bridged."""

    keeps = 1_000_000

    def start(self):
        self.samples = []
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()

    def poll(self):
        while True:
            self.sample()
            if self.stopped.wait(0.2):
                return self.sample()

    def sample(self):
        with suppress(pynvml.NVMLError):
            self.samples.append((time.time(), pynvml.nvmlDeviceGetPowerUsage(self.handle) / 1000))

    def stop(self):
        self.stopped.set()
        self.thread.join()
        kept = self.kept()
        return sum((t1 - t0) * (w0 + w1) / 2 for (t0, w0), (t1, w1) in zip(kept, kept[1:], strict=False))

    def kept(self):
        return self.samples[-self.keeps :]


class ClippedBuffer(Polling):
    """Keeps 30 s."""

    keeps = 150


class Deduplicating(Polling):
    """Takes an equal reading for one that was read before."""

    def kept(self):
        return [s for i, s in enumerate(self.samples) if i == 0 or s[1] != self.samples[i - 1][1]]


class Package:
    """The CPU package's counter, last minus first."""

    def __init__(self, device):
        if device.kind != "cpu":
            raise CannotMeasure("it knows CPUs only")
        self.files = list(self.zones(device.powercap))

    def zones(self, powercap):
        yield powercap / "intel-rapl:0" / "energy_uj"

    def read_j(self):
        return sum(int(file.read_text()) for file in self.files) / 1e6

    def start(self):
        self.first_j = self.read_j()

    def stop(self):
        return self.read_j() - self.first_j


class UnwrappedAtTheEnd(Package):
    """Sees one wrap, where there were two."""

    def stop(self):
        joules = super().stop()
        range_j = int(self.files[0].with_name("max_energy_range_uj").read_text()) / 1e6
        return joules + range_j if joules < 0 else joules


class WithCores(Package):
    """Adds the package's cores to the package, wraps corrected."""

    def zones(self, powercap):
        yield from super().zones(powercap)
        yield powercap / "intel-rapl:0:0" / "energy_uj"

    def start(self):
        super().start()
        self.last = [int(file.read_text()) for file in self.files]
        self.joules = 0.0
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.poll)
        self.thread.start()

    def poll(self):
        while not self.stopped.wait(1):
            self.add()
        self.add()

    def add(self):
        now = [int(file.read_text()) for file in self.files]
        range_uj = int(self.files[0].with_name("max_energy_range_uj").read_text())
        self.joules += sum((b - a) % range_uj for a, b in zip(self.last, now, strict=True)) / 1e6
        self.last = now

    def stop(self):
        self.stopped.set()
        self.thread.join()
        return self.joules


class Deadlocked(Counter):
    def start(self):
        threading.Event().wait()


class Spinning(Counter):
    """Leaves a thread behind that never waits."""

    def start(self):
        threading.Thread(target=self.spin, daemon=True).start()

    def spin(self):
        end_s = time.thread_time() + 0.4
        while time.thread_time() < end_s:
            pass


NOT_CALLABLE = 3
