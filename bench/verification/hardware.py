"""What hardware can do at most, as far as it is published. Pure tables and two small bounds.

Bandwidth is the vendor's peak memory bandwidth; a class that is missing is not judged.
"""

import re
from typing import NamedTuple


class Bandwidth(NamedTuple):
    """Peak memory bandwidth in GB/s (10^9 bytes), and the vendor's document that says so."""

    gb_per_s: float
    source: str


_ADA = "NVIDIA Ada GPU architecture whitepaper"
_AMPERE = "NVIDIA Ampere GA102 GPU architecture whitepaper"
_TURING = "NVIDIA Turing GPU architecture whitepaper"
_BLACKWELL = "NVIDIA RTX Blackwell GPU architecture whitepaper"
_A100 = "NVIDIA A100 Tensor Core GPU data sheet"
_H100 = "NVIDIA H100 Tensor Core GPU data sheet"

MEMORY_BANDWIDTH: dict[str, Bandwidth] = {
    "H200": Bandwidth(4800, "NVIDIA H200 Tensor Core GPU data sheet"),
    "H100 80GB HBM3": Bandwidth(3350, _H100),
    "H100 PCIe": Bandwidth(2000, _H100),
    "A100-SXM4-80GB": Bandwidth(2039, _A100),
    "A100-SXM4-40GB": Bandwidth(1555, _A100),
    "L40S": Bandwidth(864, "NVIDIA L40S GPU data sheet"),
    "L4": Bandwidth(300, "NVIDIA L4 Tensor Core GPU data sheet"),
    "RTX 5090": Bandwidth(1792, _BLACKWELL),
    "RTX 5080": Bandwidth(960, _BLACKWELL),
    "RTX 4090": Bandwidth(1008, _ADA),
    "RTX 4080": Bandwidth(716.8, _ADA),
    "RTX 3090": Bandwidth(936.2, _AMPERE),
    "RTX 3080": Bandwidth(760.3, _AMPERE),
    "RTX 3070": Bandwidth(448, _AMPERE),
    "RTX 2080 Ti": Bandwidth(616, _TURING),
    "RTX 2080": Bandwidth(448, _TURING),
    "Radeon RX 7900 XTX": Bandwidth(960, "AMD Radeon RX 7900 XTX specifications"),
    "Instinct MI300X": Bandwidth(5300, "AMD Instinct MI300X data sheet"),
    "M1 Max": Bandwidth(400, "Apple, introduction of M1 Max"),
    "M2 Max": Bandwidth(400, "Apple, introduction of M2 Max"),
    "M2 Ultra": Bandwidth(800, "Apple, introduction of M2 Ultra"),
    "M4 Max": Bandwidth(546, "Apple, introduction of M4 Max; of its larger version"),
}

# at least so many bits a weight; formats that mix widths count as their narrowest
_BITS = (
    (re.compile(r"f(?:loat)?32|fp32", re.IGNORECASE), 32.0),
    (re.compile(r"bf(?:loat)?16|f(?:loat)?16|fp16", re.IGNORECASE), 16.0),
    (re.compile(r"q8|int8|fp8|w8|8-?bit", re.IGNORECASE), 8.0),
    (re.compile(r"q6|6-?bit", re.IGNORECASE), 6.0),
    (re.compile(r"q5|5-?bit", re.IGNORECASE), 5.0),
    (re.compile(r"q4|awq|gptq|int4|fp4|nf4|w4|iq4|4-?bit", re.IGNORECASE), 4.0),
    (re.compile(r"q3|3-?bit", re.IGNORECASE), 3.0),
    (re.compile(r"q2|2-?bit", re.IGNORECASE), 2.0),
)
_ACTIVE = re.compile(r"(?<![A-Za-z0-9])A(\d+(?:\.\d+)?)(B)(?![A-Za-z0-9])")
_PARAMETERS = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s*([BM])(?![A-Za-z0-9])", re.IGNORECASE)


def weight_bits(quantization: str | None) -> float | None:
    """The narrowest width that a quantization's name allows."""
    return next((bits for pattern, bits in _BITS if quantization and pattern.search(quantization)), None)


def active_parameters(model: str) -> float | None:
    """Parameters that one token reads, as the model's name gives them: ``8B``, ``135M``, ``30B-A3B`` (3 billion)."""
    return _number_of(_ACTIVE, model) or _number_of(_PARAMETERS, model)


def _number_of(pattern: re.Pattern[str], model: str) -> float | None:
    found = pattern.search(model)
    return None if found is None else float(found[1]) * (1e6 if found[2] in "Mm" else 1e9)


def weights_mib(model: str, quantization: str | None) -> float | None:
    """At least so much memory the weights take, by the names of model and quantization."""
    size, bits = _number_of(_PARAMETERS, model), weight_bits(quantization)
    return None if size is None or bits is None else size * bits / 8 / 2**20


def fastest_tokens_per_s(
    gpu_class: str | None, model: str, quantization: str | None, concurrency: int, devices: int
) -> float | None:
    """The decoding speed at which the memory does nothing but read the weights once a token and request;
    None where class, size or width is unknown."""
    bandwidth, size, bits = MEMORY_BANDWIDTH.get(gpu_class or ""), active_parameters(model), weight_bits(quantization)
    if bandwidth is None or size is None or bits is None:
        return None
    return bandwidth.gb_per_s * 1e9 * devices / (size * bits / 8) * concurrency
