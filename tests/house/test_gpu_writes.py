"""What changes a GPU stands in one module, and obeys read-only."""

from pathlib import Path

import asyncenergy_controller


def test_only_one_module_writes_to_a_gpu_and_each_of_its_writes_obeys_read_only():
    package = Path(asyncenergy_controller.__file__).parent
    writers = {
        path.name
        for path in package.rglob("*.py")
        if any(word in path.read_text() for word in ("nvmlDeviceSet", "nvmlDeviceReset", "nvmlDeviceClear"))
    }
    assert writers == {"gpu_writes.py"}
    source = (package / "meters" / "gpu_writes.py").read_text()
    assert (
        source.count("nvmlDeviceSet") + source.count("nvmlDeviceReset") == source.count("lambda: nvml.nvmlDevice") == 3
    )
