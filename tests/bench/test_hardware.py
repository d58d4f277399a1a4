"""What the names of models and formats say about how fast a card can be."""

import pytest

from bench.verification.hardware import (
    MEMORY_BANDWIDTH,
    active_parameters,
    fastest_tokens_per_s,
    weight_bits,
    weights_mib,
)


@pytest.mark.parametrize(
    ("model", "size"),
    [
        ("SmolLM2-135M-Instruct", 135e6),
        ("qwen3.5-9b-q4_K_M", 9e9),
        ("Qwen3-30B-A3B", 3e9),
        ("Llama-3.1-8B", 8e9),
        ("example 0.6B", 0.6e9),
        ("Mixtral-8x7B", None),
        ("gpt-oss", None),
    ],
)
def test_a_models_name_gives_the_parameters_that_a_token_reads(model, size):
    assert active_parameters(model) == size


@pytest.mark.parametrize(
    ("name", "bits"),
    [("bfloat16", 16), ("float32", 32), ("Q4_K_M", 4), ("Q8_0", 8), ("AWQ 4-bit", 4), ("odd", None), (None, None)],
)
def test_a_formats_name_gives_its_width(name, bits):
    assert weight_bits(name) == bits


def test_the_bound_is_the_bandwidth_over_the_weights():
    assert fastest_tokens_per_s("RTX 3090", "example-7b", "Q4_K_M", 1, 1) == pytest.approx(936.2e9 / 3.5e9)
    assert fastest_tokens_per_s("RTX 3090", "example-7b", "Q4_K_M", 8, 2) == pytest.approx(16 * 936.2e9 / 3.5e9)


@pytest.mark.parametrize("gpu_class", ["RTX 9999", None])
def test_an_unknown_class_is_not_judged(gpu_class):
    assert fastest_tokens_per_s(gpu_class, "example-7b", "Q4_K_M", 1, 1) is None


def test_weights_take_at_least_their_bits():
    assert weights_mib("example-7b", "Q4_K_M") == pytest.approx(3.5e9 / 2**20)


def test_every_bandwidth_names_the_vendors_document():
    for entry in MEMORY_BANDWIDTH.values():
        assert entry.gb_per_s > 0
        assert entry.source.split()[0].strip(",") in ("NVIDIA", "AMD", "Apple")
        assert len(entry.source.split()) > 3
