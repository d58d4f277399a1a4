"""The names under which models leave the box: never a path, one name for one model."""

import re
from collections.abc import Mapping

IDENTITY = re.compile(r"[A-Za-z0-9 ._:/+@()-]{1,120}")
UNNAMED = "unnamed-model"

# Names that engines use for models whose own name says more. Keys are lower case.
ALIASES: dict[str, str] = {
    "qwen3.5:9b": "Qwen3.5-9B",
    "smollm2:135m": "SmolLM2-135M-Instruct",
    "smollm2:360m": "SmolLM2-360M-Instruct",
    "smollm2:1.7b": "SmolLM2-1.7B-Instruct",
}

_QUANTIZATION = re.compile(
    r"""[-_.:]?(?P<name>
        (?:UD[-_])?(?:I?Q[1-8](?:_(?:[01]|K|XXS|XS|NL|S|M|L|XL))*|TQ[12]_0|MXFP4(?:_MOE)?)
      | BF16 | F16 | F32 | FP16 | FP8 | FP4 | NVFP4
      | (?:GPTQ|AWQ)(?:[-_]INT[48])? | INT[48] | [2348](?:-?bit) | W[48]A(?:16|8)
    )(?=$|[-_.:](?:GGUF|MLX)$|-\d{5}-of-\d{5}$)""",
    re.IGNORECASE | re.VERBOSE,
)
_SUFFIX = re.compile(r"(?:-\d{5}-of-\d{5})?\.(?:gguf|safetensors|bin)$|[-_.](?:gguf|mlx)$", re.IGNORECASE)
_HUB_CACHE = re.compile(r"models--(?:.+--)?(?P<name>[^/]+)")


def model_basename(raw: str) -> str:
    """Strip directories, file extension and hub cache structure from an engine's name for its model."""
    parts = [part for part in re.split(r"[/\\]", raw.strip()) if part]
    cached = next((match["name"] for part in parts if (match := _HUB_CACHE.fullmatch(part))), None)
    is_file = bool(parts) and _SUFFIX.search(parts[-1]) is not None
    name = cached if cached and not is_file else (parts[-1] if parts else "")
    return _SUFFIX.sub("", name)


def quantization_of(raw: str) -> str | None:
    """The quantization that a file or tag name states (`Q4_K_M`, `BF16`, `AWQ`), None where it states none."""
    match = _QUANTIZATION.search(model_basename(raw))
    return match["name"].upper().replace("-BIT", "BIT") if match else None


def ggml_quantization(file_type: str) -> str | None:
    """llama.cpp's own words for a file type (`Q4_K - Medium`, `all F32`) as file names have it."""
    words = re.fullmatch(
        r"(?:\(guessed\) )?(?:all )?(?P<name>\w+)(?: - (?P<size>Small|Medium|Large|[\d.]+ bpw))?.*", file_type
    )
    if words is None:
        return None
    size = words["size"] or ""
    return words["name"] + (f"_{size[0]}" if size.isalpha() else "")


def public_model_name(raw: str, aliases: Mapping[str, str] = ALIASES) -> str:
    """The name that may leave the box: basename without quantization, through the alias map."""
    base = model_basename(raw)
    plain = _SUFFIX.sub("", _QUANTIZATION.sub("", base)).removesuffix(":latest") or base
    name = aliases.get(base.lower()) or aliases.get(plain.lower()) or plain
    return _as_identity(name)


def _as_identity(name: str) -> str:
    kept = re.sub(r"[^A-Za-z0-9 ._:/+@()-]", "-", name).lstrip("=+-@/ ")[:120].rstrip()
    return kept if IDENTITY.fullmatch(kept) else UNNAMED
