"""Does watching cost speed? Decodes with the shape of SmolLM2-135M on the GPU, the sampler on and off in turn.

    python tests/gpu/sampler_cost.py [PAIRS] [SECONDS]

Weights are random (speed does not depend on them), so nothing needs to be carried. Prints one JSON line.
"""

import json
import statistics
import sys
import time
from typing import Any

import torch
from asyncenergy_controller.meters.select import open_meter
from asyncenergy_controller.sampler import Sampler
from transformers import LlamaConfig, LlamaForCausalLM

SHAPE = LlamaConfig(
    vocab_size=49152,
    hidden_size=576,
    intermediate_size=1536,
    num_hidden_layers=30,
    num_attention_heads=9,
    num_key_value_heads=3,
    max_position_embeddings=2048,
)
TOKENS_PER_ANSWER = 64


@torch.inference_mode()
def answer(model: Any) -> int:
    """Decode one answer; returns its tokens."""
    ids = torch.ones((1, 60), dtype=torch.long, device=model.device)
    cache = None
    for _ in range(TOKENS_PER_ANSWER):
        step = model(input_ids=ids, past_key_values=cache, use_cache=True)
        cache, ids = step.past_key_values, step.logits[:, -1].argmax(-1, keepdim=True)
        ids.tolist()  # a server hands each token on before it makes the next
    return TOKENS_PER_ANSWER


def tokens_per_s(model: Any, seconds: float) -> float:
    started, tokens = time.monotonic(), 0
    while time.monotonic() - started < seconds:
        tokens += answer(model)
    return tokens / (time.monotonic() - started)


def main(pairs: int = 8, seconds: float = 4.0) -> None:
    model = LlamaForCausalLM(SHAPE).to("cuda", torch.bfloat16).eval()
    tokens_per_s(model, 5.0)
    meter = open_meter("nvml")
    ratios, on, off = [], [], []
    for turn in range(pairs):
        for watched in (True, False) if turn % 2 else (False, True):
            if watched:
                with Sampler(meter, period_s=0.2):
                    on.append(tokens_per_s(model, seconds))
            else:
                off.append(tokens_per_s(model, seconds))
        ratios.append(on[-1] / off[-1])
    print(
        json.dumps(
            {"ratio_median": statistics.median(ratios), "ratios": ratios, "on_tokens_s": on, "off_tokens_s": off}
        )
    )


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
