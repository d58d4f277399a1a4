"""What makes two runs comparable."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.configuration import config_key, configuration, device_class, item_set, set_limit_w, source_family
from tests.wire.bundles import make_run


def key(**changes: Any) -> str:
    run = make_run(**changes)
    config = configuration(
        run,
        model=run["model"],
        engine=run["engine"],
        gpu_class=device_class(run["gpu_name"]),
        energy_source=run["energy_source"],
        methodology=run["methodology_version"],
    )
    return config_key(config)


@pytest.mark.parametrize(
    "change",
    [
        {"model": "example-7b"},
        {"weights": {"repo": "example/example-3b", "revision": "abc", "digest": None}},
        {"quantization": "Q8_0"},
        {"engine": "vLLM"},
        {"engine_version": "b1001"},
        {"gpu_name": "NVIDIA H200"},
        {"device": {"kind": "gpu", "count": 2}},
        {"energy_boundary": "wall"},
        {"energy_source": "rapl"},
        {"power_limit_w": 250.0},
        {"clock_lock_mhz": 1200.0},
        {"thinking_mode": "on"},
        *(
            {"settings": {"prefix_cache": "off", name: value}}
            for name, value in (
                ("reasoning_effort", "high"),
                ("cuda_graphs", True),
                ("ctx_size", 4096),
                ("kv_cache", "q8_0"),
                ("arith_level", 2),
                ("extra", {"flash_attention": True}),
            )
        ),
        {"settings": {"prefix_cache": "on"}},
        {"max_tokens": 64},
        {"n_shot": 5},
        {"concurrency": 4},
        {"methodology_version": "4"},
    ],
    ids=str,
)
def test_whatever_changes_the_energy_changes_the_key(change):
    assert key(**change) != key()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 99},
        {"created_at": None},
        {"repeat_index": 3},
        {"driver_version": "999"},
        {"node_hash": "b" * 64},
        {"energy_source": "integrated"},
        {"power_limit_w": 350.0, "gpu_stock_power_limit_w": 350.0},
    ],
    ids=str,
)
def test_what_does_not_is_left_out(change):
    assert key(**change) == key()


def test_a_key_is_16_hex_and_the_same_for_250_and_250_point_0():
    assert len(key()) == 16
    assert key(power_limit_w=250) == key(power_limit_w=250.0)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX"),
        ("Apple M2 Max", "M2 Max"),
        ("RTX 3090", "RTX 3090"),
        (None, None),
    ],
)
def test_a_card_is_called_without_its_vendor(name, shown):
    assert device_class(name) == shown


def test_a_processor_is_its_own_class():
    assert device_class("NVIDIA H200", kind="cpu", cpu_model="Xeon 6") == "cpu:Xeon 6"
    assert device_class(None, kind="cpu") == "cpu:unknown"


def test_counter_and_integration_are_one_family_and_no_other_is():
    assert {source_family("counter"), source_family("integrated")} == {"nvml"}
    assert [source_family(source) for source in ("rapl", "ioreport", None)] == ["rapl", "ioreport", None]


@given(st.floats(50, 1000), st.floats(50, 1000))
@settings(max_examples=40)
def test_a_limit_is_a_setting_only_where_it_is_not_the_stock(limit, stock):
    assert set_limit_w(limit, stock) == (None if abs(limit - stock) < 0.5 else limit)


def test_the_same_index_is_the_same_question_only_in_the_same_list():
    arith = {"task": "arith", "seed": 1, "settings": {"arith_level": 1}}
    assert item_set(arith) != item_set({**arith, "seed": 2})
    assert item_set(arith) != item_set({**arith, "settings": {"arith_level": 2}})
    gsm8k = {"task": "gsm8k", "dataset_revision": "abc", "seed": 1}
    assert item_set(gsm8k) == item_set({**gsm8k, "seed": 2})
    assert item_set(gsm8k) != item_set({**gsm8k, "dataset_revision": "def"})
