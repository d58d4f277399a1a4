"""Which server is behind an address, told by its own endpoints, and what each kind can be asked for."""

import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asyncenergy_controller.engine.aliases import ggml_quantization, public_model_name, quantization_of
from asyncenergy_controller.engine.shapes import count, mapping, mappings, text
from asyncenergy_controller.engine.types import EngineInfo, PrefixCache

Fetch = Callable[[str], Any]  # path -> decoded JSON, or None where the server has no such page

DEFAULT_URLS = tuple(f"http://127.0.0.1:{port}" for port in (8080, 11434, 8000, 1234))


@dataclass(frozen=True, slots=True)
class EngineKind:
    """A server program: its name on the board and its dialect of the chat request."""

    name: str
    prefix_cache: PrefixCache
    thinking_field: str | None = None
    effort_field: str | None = None
    cache_field: str | None = None
    loading_page: str | None = None  # takes a model without a prompt: loads it, or drops it for keep_alive 0

    def without_cache(self) -> dict[str, Any]:
        """The body fields that keep this engine from reusing earlier prompts."""
        if self.cache_field == "cache_prompt":
            return {"cache_prompt": False}
        # vLLM shares cached prefixes only between equal salts; a fresh one each time shares nothing.
        return {"cache_salt": uuid.uuid4().hex} if self.cache_field == "cache_salt" else {}

    def thinking(self, *, on: bool | None, effort: str | None) -> dict[str, Any]:
        """The body fields for the wanted thinking mode and effort; empty where nothing is asked for."""
        template: dict[str, Any] = {}
        body: dict[str, Any] = {}
        if on is not None and self.thinking_field == "chat_template_kwargs":
            template["enable_thinking"] = on
        elif on is False and self.thinking_field == "reasoning_effort":
            body["reasoning_effort"] = "none"
        if effort is not None and self.effort_field == "chat_template_kwargs":
            template["reasoning_effort"] = effort
        elif effort is not None and self.effort_field == "reasoning_effort":
            body["reasoning_effort"] = effort
        return body | ({"chat_template_kwargs": template} if template else {})


LLAMA_CPP = EngineKind("llama.cpp", "off", "chat_template_kwargs", "chat_template_kwargs", "cache_prompt")
OLLAMA = EngineKind("ollama", "on", "reasoning_effort", "reasoning_effort", loading_page="/api/generate")
VLLM = EngineKind("vllm", "off", "chat_template_kwargs", "reasoning_effort", "cache_salt")
VLLM_WITHOUT_SALT = EngineKind("vllm", "unknown", "chat_template_kwargs", "reasoning_effort")
SGLANG = EngineKind("sglang", "on", "chat_template_kwargs", "reasoning_effort")
SGLANG_WITHOUT_CACHE = EngineKind("sglang", "off", "chat_template_kwargs", "reasoning_effort")
LM_STUDIO = EngineKind("lm-studio", "unknown")
TRANSFORMERS = EngineKind("transformers", "unknown")
COMPATIBLE = EngineKind("openai-compatible", "unknown")


@dataclass(frozen=True, slots=True)
class Recognised:
    """A kind of engine and the version it states."""

    kind: EngineKind
    version: str | None


def recognise(fetch: Fetch) -> Recognised | None:
    """Ask each kind's own endpoints in turn; None where not even a model list is served."""
    for probe in (_llama_cpp, _ollama, _lm_studio, _vllm, _sglang, _transformers, _compatible):
        if (found := probe(fetch)) is not None:
            return found
    return None


def describe(found: Recognised, model_id: str, fetch: Fetch) -> EngineInfo:
    """What the engine says about one of its models; what it does not say is None."""
    details = _DETAILS.get(found.kind.name, _listed_details)(fetch, model_id)
    path = str(details.get("path") or model_id)
    return EngineInfo(
        engine=found.kind.name,
        engine_version=found.version,
        model_id=model_id,
        model_basename=public_model_name(path),
        quantization=details.get("quantization") or quantization_of(path),
        ctx_size=count(details.get("ctx_size"), least=1),
        parallel_slots=count(details.get("slots"), least=1),
        prefix_cache=found.kind.prefix_cache,
        thinking_switch=found.kind.thinking_field is not None,
        weights_digest=details.get("digest"),
        model_file=Path(path) if path.endswith(".gguf") and Path(path).is_file() else None,
    )


def _llama_cpp(fetch: Fetch) -> Recognised | None:
    props = mapping(fetch("/props"))
    if "default_generation_settings" not in props:
        return None
    build = str(props.get("build_info") or "")
    known = build if re.match(r"b[1-9]", build) else _tagged_build(fetch)
    return Recognised(LLAMA_CPP, known)


def _tagged_build(fetch: Fetch) -> str | None:
    """Builds inside other packages do not know their number; the embedded engine tags its model with it."""
    tags = [str(tag) for model in _listing(fetch) for tag in model.get("tags") or []]
    return next((tag for tag in tags if tag.startswith("xllamacpp ")), None)


def _ollama(fetch: Fetch) -> Recognised | None:
    version = mapping(fetch("/api/version")).get("version")
    return Recognised(OLLAMA, str(version)) if version and mapping(fetch("/api/tags")) else None


def _lm_studio(fetch: Fetch) -> Recognised | None:
    models = mapping(fetch("/api/v0/models")).get("data")
    return Recognised(LM_STUDIO, None) if isinstance(models, list) else None


def _vllm(fetch: Fetch) -> Recognised | None:
    if not any(model.get("owned_by") == "vllm" for model in _listing(fetch)):
        return None
    version = str(mapping(fetch("/version")).get("version") or "")
    return Recognised(VLLM if _takes_salt(version) else VLLM_WITHOUT_SALT, version or None)


def _takes_salt(version: str) -> bool:
    """Salts came with 0.9; older servers ignore the field."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) >= (0, 9)


def _sglang(fetch: Fetch) -> Recognised | None:
    if not any(model.get("owned_by") == "sglang" for model in _listing(fetch)):
        return None
    told = mapping(fetch("/get_server_info")) or mapping(fetch("/server_info"))
    uncached = told.get("disable_radix_cache") is True
    return Recognised(SGLANG_WITHOUT_CACHE if uncached else SGLANG, text(told.get("version")) or None)


def _transformers(fetch: Fetch) -> Recognised | None:
    api = mapping(fetch("/openapi.json"))
    paths = {"/v1/chat/completions", "/v1/responses", "/v1/models", "/health"}
    unnamed = mapping(api.get("info")).get("title") == "FastAPI"
    return Recognised(TRANSFORMERS, None) if unnamed and paths <= set(mapping(api.get("paths"))) else None


def _compatible(fetch: Fetch) -> Recognised | None:
    return Recognised(COMPATIBLE, None) if isinstance(mapping(fetch("/v1/models")).get("data"), list) else None


def _llama_cpp_details(fetch: Fetch, model_id: str) -> Mapping[str, Any]:
    props = mapping(fetch("/props"))
    settings = mapping(props.get("default_generation_settings"))
    path = text(props.get("model_path")) or model_id
    return {
        "path": path,
        "ctx_size": settings.get("n_ctx"),
        "slots": props.get("total_slots"),
        "quantization": quantization_of(path) or ggml_quantization(text(props.get("model_ftype"))),
    }


def _ollama_details(fetch: Fetch, model_id: str) -> Mapping[str, Any]:
    loaded = _named(mapping(fetch("/api/ps")).get("models"), "name", model_id)
    stored = _named(mapping(fetch("/api/tags")).get("models"), "name", model_id)
    digest = stored.get("digest")
    return {
        "path": model_id,
        "ctx_size": loaded.get("context_length"),
        "quantization": mapping(stored.get("details")).get("quantization_level"),
        "digest": f"sha256:{digest}" if digest else None,
    }


def _lm_studio_details(fetch: Fetch, model_id: str) -> Mapping[str, Any]:
    model = _named(mapping(fetch("/api/v0/models")).get("data"), "id", model_id)
    return {
        "path": model_id,
        "ctx_size": model.get("loaded_context_length"),
        "quantization": model.get("quantization"),
    }


def _listed_details(fetch: Fetch, model_id: str) -> Mapping[str, Any]:
    model = _named(_listing(fetch), "id", model_id)
    return {"path": model.get("root") or model_id, "ctx_size": model.get("max_model_len")}


_DETAILS: dict[str, Callable[[Fetch, str], Mapping[str, Any]]] = {
    LLAMA_CPP.name: _llama_cpp_details,
    OLLAMA.name: _ollama_details,
    LM_STUDIO.name: _lm_studio_details,
}


def _listing(fetch: Fetch) -> list[dict[str, Any]]:
    return mappings(mapping(fetch("/v1/models")).get("data"))


def _named(rows: Any, key: str, name: str) -> dict[str, Any]:
    return next((row for row in mappings(rows) if row.get(key) == name), {})
