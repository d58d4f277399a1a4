"""Which engine is it, which model does it serve, and what may be said about it."""

import socket
from contextlib import suppress

import pytest
from asyncenergy_controller.engine import (
    EngineClient,
    EngineFailed,
    EngineNotFound,
    EngineRefused,
    EngineTimeout,
    detect_engine,
)
from asyncenergy_controller.engine.kinds import LLAMA_CPP as LLAMA_CPP_KIND
from asyncenergy_controller.engine.kinds import LM_STUDIO as LM_STUDIO_KIND
from asyncenergy_controller.engine.kinds import OLLAMA as OLLAMA_KIND
from asyncenergy_controller.engine.kinds import VLLM as VLLM_KIND

from tests.controller.fake_engine import LLAMA_CPP, LM_STUDIO, OLLAMA, SGLANG, TRANSFORMERS, VLLM, fake_engine

ANY = {"/v1/models": {"data": [{"id": "tiny"}]}}


def told(pages):
    with fake_engine(pages=pages) as fake, EngineClient(fake.url) as client:
        return client.info()


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        (LLAMA_CPP, ("llama.cpp", "b6000-1a2b3c4", "Tiny-1B-Instruct", "Q4_K_M", 4096, "off")),
        (OLLAMA, ("ollama", "0.12.3", "Qwen3.5-9B", "Q4_K_M", 8192, "on")),
        (VLLM, ("vllm", "0.11.0", "SmolLM2-135M-Instruct", None, 2048, "off")),
        (SGLANG, ("sglang", "0.5.3", "Qwen3-8B", None, 4096, "on")),
        (LM_STUDIO, ("lm-studio", None, "tiny-1b", "4bit", 4096, "unknown")),
        (TRANSFORMERS, ("transformers", None, "SmolLM2-135M-Instruct", None, None, "unknown")),
        (ANY, ("openai-compatible", None, "tiny", None, None, "unknown")),
    ],
    ids=["llama.cpp", "ollama", "vllm", "sglang", "lm-studio", "transformers", "any other"],
)
def test_each_kind_is_told_by_its_own_pages(pages, expected):
    info = told(pages)
    assert (
        info.engine,
        info.engine_version,
        info.model_basename,
        info.quantization,
        info.ctx_size,
        info.prefix_cache,
    ) == expected


def test_the_models_path_stays_in_the_box():
    info = told(LLAMA_CPP)
    assert info.model_id == "/srv/models/Tiny-1B-Instruct-Q4_K_M.gguf"
    assert "/" not in info.model_basename
    assert info.model_file is None  # no such file here


def test_the_model_file_is_named_where_it_lies_on_this_machine(tmp_path):
    weights = tmp_path / "Tiny-Q8_0.gguf"
    weights.touch()
    props = LLAMA_CPP["/props"] | {"model_path": str(weights)}
    assert told(LLAMA_CPP | {"/props": props}).model_file == weights


def test_ollamas_digest_names_the_weights():
    assert told(OLLAMA).weights_digest == "sha256:" + "ab" * 32


def test_a_build_without_a_number_has_no_version_unless_the_model_is_tagged_with_one():
    props = LLAMA_CPP["/props"] | {"build_info": "b0-unknown"}
    assert told(LLAMA_CPP | {"/props": props}).engine_version is None
    tagged = {"data": [{"id": "tiny", "tags": ["", "xllamacpp 2026.1"]}]}
    assert told(LLAMA_CPP | {"/props": props, "/v1/models": tagged}).engine_version == "xllamacpp 2026.1"


@pytest.mark.parametrize(
    ("version", "state"), [("0.8.5", "unknown"), ("0.9.0", "off"), ("1.0.0rc1", "off"), ("", "unknown")]
)
def test_an_old_vllm_cannot_be_kept_from_caching(version, state):
    assert told(VLLM | {"/version": {"version": version}}).prefix_cache == state


def test_sglang_says_whether_it_keeps_prompts():
    assert told(SGLANG | {"/get_server_info": {"disable_radix_cache": True}}).prefix_cache == "off"
    newer = {"/get_server_info": 404, "/server_info": {"version": "0.6.0"}}
    assert told(SGLANG | newer).engine_version == "0.6.0"


def test_an_engine_that_still_loads_its_model_is_neither_another_engine_nor_none():
    loading = LLAMA_CPP | {"/props": 503}  # it lists its model meanwhile
    with fake_engine(pages=loading) as fake, EngineClient(fake.url) as client:
        with pytest.raises(EngineFailed, match=r"not ready.*try again"):
            client.recognised()
        fake.pages = LLAMA_CPP
        assert client.info().engine == "llama.cpp"


@pytest.mark.parametrize(
    ("kind", "on", "effort", "body"),
    [
        (LLAMA_CPP_KIND, True, None, {"chat_template_kwargs": {"enable_thinking": True}}),
        (LLAMA_CPP_KIND, None, "low", {"chat_template_kwargs": {"reasoning_effort": "low"}}),
        (VLLM_KIND, False, None, {"chat_template_kwargs": {"enable_thinking": False}}),
        (VLLM_KIND, None, "high", {"reasoning_effort": "high"}),
        (OLLAMA_KIND, False, None, {"reasoning_effort": "none"}),
        (OLLAMA_KIND, True, None, {}),
        (LM_STUDIO_KIND, False, "low", {}),
        (LLAMA_CPP_KIND, None, None, {}),
    ],
)
def test_thinking_is_switched_in_each_engines_own_dialect(kind, on, effort, body):
    assert kind.thinking(on=on, effort=effort) == body


def test_an_address_may_end_in_v1_or_lack_its_scheme():
    with fake_engine() as fake:
        for url in (f"{fake.url}/v1/", fake.url.removeprefix("http://")):
            with EngineClient(url) as client:
                assert client.base_url == fake.url
                assert client.models() == ["/srv/models/Tiny-1B-Instruct-Q4_K_M.gguf"]


def test_the_first_engine_that_answers_is_taken():
    with fake_engine() as gone:
        pass
    with fake_engine(pages=OLLAMA) as fake, detect_engine([gone.url, fake.url]) as client:
        assert client.base_url == fake.url


def test_without_an_engine_every_address_tried_is_named():
    with fake_engine() as gone:
        pass
    with fake_engine(pages={"/v1/models": "<html>"}) as other, pytest.raises(EngineNotFound) as caught:
        detect_engine([gone.url, other.url])
    assert f"{gone.url}: nobody listens" in caught.value.message
    assert f"{other.url} answers, but is no OpenAI-compatible engine" in caught.value.message


def test_an_engine_without_a_model_says_so():
    with (
        fake_engine(pages={"/v1/models": {"data": []}}) as fake,
        EngineClient(fake.url) as client,
        pytest.raises(EngineNotFound, match="no model loaded"),
    ):
        client.info()


def test_a_missing_key_is_not_taken_for_no_engine():
    with (
        fake_engine(pages={"/props": 401}) as fake,
        EngineClient(fake.url) as client,
        pytest.raises(EngineRefused, match="API key"),
    ):
        client.recognised()


def connections_to(server):
    """How many have knocked that nobody let in."""
    server.setblocking(False)
    knocked = []
    with suppress(BlockingIOError):
        while True:
            knocked.append(server.accept()[0])
    for one in knocked:
        one.close()
    return len(knocked)


def test_a_server_that_hangs_is_not_probed_page_by_page(monkeypatch):
    monkeypatch.setattr("asyncenergy_controller.engine.client.PROBE_LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with EngineClient(url) as client, pytest.raises(EngineTimeout):
            client.recognised()
        assert connections_to(silent) == 1
