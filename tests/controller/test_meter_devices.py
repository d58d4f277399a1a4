"""The GPU that was asked for is measured, or a sentence says why not."""

import pytest
from asyncenergy_controller.errors import DeviceNotFound, MeterUnavailable
from asyncenergy_controller.meters.nvml import NvmlMeter

from .fakes_nvml import FakeBoard, FakeNvml, flat, install

A = "GPU-0a11aaaa-1111-2222-3333-444455556666"
G = "GPU-9999bbbb-1111-2222-3333-444455556666"
G2 = "GPU-9999bbbb-7777-2222-3333-444455556666"
SLICE = "MIG-12345678-1111-2222-3333-444455556666"


@pytest.fixture
def three(monkeypatch):
    boards = [
        FakeBoard(uuid=A, energy_j=flat(100)),
        FakeBoard(uuid=G, energy_j=flat(200), slices=("MIG-00000000-0", SLICE)),
        FakeBoard(uuid=G2, energy_j=flat(400)),
    ]
    return install(monkeypatch, FakeNvml(*boards))


def measured_w(device=None, **environ):
    return NvmlMeter(device, environ=environ).read().gpu_power_w


@pytest.mark.parametrize(
    ("device", "watts"),
    [
        ("0", 100),
        ("2", 400),
        ("0,2", 500),
        (" 0 , 2 ", 500),
        ("all", 700),
        (A, 100),
        (A.lower(), 100),
        ("GPU-0a11", 100),
        (G2[:15], 400),
        (f"{A},{G}", 300),
        ("0," + A, 100),
        (SLICE, 200),
        ("MIG-1234", 200),
        (f"MIG-{G}/1/0", 200),
        (f"MIG-00000000-0,{SLICE}", 200),
    ],
)
def test_the_device_that_was_named_is_measured(three, device, watts):
    assert measured_w(device) == watts
    assert measured_w(CUDA_VISIBLE_DEVICES=device) == watts if device != "all" else True


def test_device_beats_the_environment(three):
    assert measured_w("2", CUDA_VISIBLE_DEVICES="0") == 400


def test_what_stands_behind_minus_one_is_hidden(three):
    assert measured_w(CUDA_VISIBLE_DEVICES="0,-1,2") == 100


@pytest.mark.parametrize("visible", ["", "-1", "-1,0"])
def test_an_environment_that_hides_every_gpu_is_refused(three, visible):
    with pytest.raises(MeterUnavailable, match="hides every GPU"):
        measured_w(CUDA_VISIBLE_DEVICES=visible)


@pytest.mark.parametrize("device", ["3", "-1", "", "0,,1", "GPU-8", "MIG-8", "gpu", "0x0", "²", f"MIG-{A[:-1]}/0/0"])
def test_a_device_that_is_not_here_is_refused_by_name(three, device):
    with pytest.raises(DeviceNotFound):
        measured_w(device)


def test_an_ambiguous_beginning_is_refused(three):
    with pytest.raises(DeviceNotFound, match="several"):
        measured_w("GPU-9999bbbb")


def test_several_gpus_without_a_choice_are_refused_and_listed(three):
    with pytest.raises(DeviceNotFound, match=f"3 GPUs.*--device.*{A}"):
        measured_w()


def test_the_only_gpu_needs_no_choice(monkeypatch):
    install(monkeypatch, FakeNvml(FakeBoard(energy_j=flat(123))))
    assert measured_w() == 123


def test_unlike_gpus_by_index_need_a_known_order(three):
    three.boards[0].name = "NVIDIA GeForce RTX 3090"
    with pytest.raises(DeviceNotFound, match="CUDA_DEVICE_ORDER=PCI_BUS_ID"):
        measured_w(CUDA_VISIBLE_DEVICES="0")
    assert measured_w(CUDA_VISIBLE_DEVICES="0", CUDA_DEVICE_ORDER="PCI_BUS_ID") == 100
    assert measured_w(CUDA_VISIBLE_DEVICES=A) == 100


def test_a_slice_is_measured_by_its_board_and_the_info_says_so(three):
    info = NvmlMeter(SLICE, environ={}).info()
    assert info.device_count == 1
    assert "whole board" in info.reasons["device"]


def test_an_engine_in_a_slice_that_nobody_named_is_told_of_too(monkeypatch, three):
    assert "whole board" in NvmlMeter("1", environ={}).info().reasons["device"]
    assert "whole board" in NvmlMeter("all", environ={}).info().reasons["device"]
    assert "device" not in NvmlMeter("0", environ={}).info().reasons
    install(monkeypatch, FakeNvml(FakeBoard(uuid=A, slices=(SLICE,))))
    assert "whole board" in NvmlMeter(environ={}).info().reasons["device"]


def test_a_machine_without_gpus_is_refused(three):
    three.boards.clear()
    with pytest.raises(MeterUnavailable, match="lists no GPU"):
        measured_w()
