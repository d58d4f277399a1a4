"""Names of models as they leave the box."""

import pytest
from asyncenergy_controller.engine.aliases import IDENTITY, ggml_quantization, public_model_name, quantization_of
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("raw", "name", "quantization"),
    [
        ("/home/ada/models/Qwen3.5-9B-Q4_K_M.gguf", "Qwen3.5-9B", "Q4_K_M"),
        (r"C:\Users\ada\models\Llama-3.2-1B-Instruct-Q8_0.gguf", "Llama-3.2-1B-Instruct", "Q8_0"),
        ("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2-135M-Instruct", "Q4_1"),
        ("qwen3.5:9b-q4_K_M", "Qwen3.5-9B", "Q4_K_M"),
        ("llama3.2:latest", "llama3.2", None),
        ("llama3.2:1b", "llama3.2:1b", None),
        ("hf.co/lmstudio-community/Qwen3.5-9B-GGUF:Q4_K_M", "Qwen3.5-9B", "Q4_K_M"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "SmolLM2-135M-Instruct", None),
        ("gpt-oss-20b-mxfp4.gguf", "gpt-oss-20b", "MXFP4"),
        ("Qwen3-8B-AWQ", "Qwen3-8B", "AWQ"),
        ("Mistral-7B-Instruct-v0.3-IQ2_XXS.gguf", "Mistral-7B-Instruct-v0.3", "IQ2_XXS"),
        ("gemma-3-12b-it-UD-Q4_K_XL.gguf", "gemma-3-12b-it", "UD-Q4_K_XL"),
        ("DeepSeek-V3-Q4_K_M-00001-of-00009.gguf", "DeepSeek-V3", "Q4_K_M"),
        ("mlx-community/Qwen3-4B-4bit", "Qwen3-4B", "4BIT"),
        ("Phi-4-BF16.gguf", "Phi-4", "BF16"),
        ("/data/hub/models--Qwen--Qwen3-4B/snapshots/" + "0" * 40, "Qwen3-4B", None),
        ("/data/hub/models--Qwen--Qwen3-4B-GGUF/snapshots/" + "0" * 40 + "/Qwen3-4B-Q6_K.gguf", "Qwen3-4B", "Q6_K"),
        ("", "unnamed-model", None),
        ("=cmd|' /C calc'!A0", "C calc--A0", None),
    ],
)
def test_paths_and_file_endings_go_and_the_quantization_is_read(raw, name, quantization):
    assert public_model_name(raw) == name
    assert quantization_of(raw) == quantization


@pytest.mark.parametrize(
    ("file_type", "quantization"),
    [
        ("Q4_K - Medium", "Q4_K_M"),
        ("Q3_K - Large", "Q3_K_L"),
        ("Q8_0", "Q8_0"),
        ("all F32", "F32"),
        ("(guessed) Q4_K - Small", "Q4_K_S"),
        ("IQ2_XXS - 2.0625 bpw", "IQ2_XXS"),
        ("", None),
    ],
)
def test_llama_cpps_words_for_a_file_type_become_the_usual_name(file_type, quantization):
    assert ggml_quantization(file_type) == quantization


def test_a_users_own_alias_wins_over_the_name():
    assert public_model_name("/srv/my-finetune-Q4_0.gguf", {"my-finetune": "Tuned-1B"}) == "Tuned-1B"


@given(st.text(max_size=200))
def test_no_name_leaves_that_the_server_would_refuse(raw):
    name = public_model_name(raw)
    assert IDENTITY.fullmatch(name)
    assert name[0] not in "=+-@/"
    assert "/" not in name
    assert ":\\" not in name
