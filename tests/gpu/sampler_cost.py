"""Does watching cost speed? SmolLM2-135M's shape on the GPU, the sampler on and off in turn.

    python tests/gpu/sampler_cost.py [PAIRS] [SECONDS]

`prefill` reads whole batches of prompts, so the GPU is what is waited for; `decode` answers one question token by
token, so the processor is. `beside` watches from a process of its own, as `bench run` does; `within` from a thread of
the process that computes, as the library does. Weights are random (speed does not depend on them), so nothing needs to
be carried. Prints one JSON line for each pairing: the tokens a second of every window, and the ratio on/off with its
95 % interval.
"""

import json
import multiprocessing
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing.connection import Connection
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
PROMPTS, TOKENS_PER_PROMPT = 128, 512
WARM_UP_S = 5.0
DRAWS = 2_000

Work = Callable[[Any], int]
Watch = Callable[[], AbstractContextManager[Any]]


@torch.inference_mode()
def prefill(model: Any) -> int:
    """Read one batch of prompts and wait for its last word; returns its tokens."""
    ids = torch.ones((PROMPTS, TOKENS_PER_PROMPT), dtype=torch.long, device=model.device)
    model(input_ids=ids, use_cache=False, logits_to_keep=1).logits[0, -1].argmax().item()
    return ids.numel()


@torch.inference_mode()
def decode(model: Any) -> int:
    """Decode one answer; returns its tokens."""
    ids = torch.ones((1, 60), dtype=torch.long, device=model.device)
    cache = None
    for _ in range(TOKENS_PER_ANSWER):
        step = model(input_ids=ids, past_key_values=cache, use_cache=True)
        cache, ids = step.past_key_values, step.logits[:, -1].argmax(-1, keepdim=True)
        ids.tolist()  # a server hands each token on before it makes the next
    return TOKENS_PER_ANSWER


def sampler() -> Sampler:
    """Watches from a thread of this process."""
    return Sampler(open_meter("nvml"), period_s=0.2)


def keep_watch(orders: Connection) -> None:
    """Watch from one order to the next, and answer each."""
    while True:
        orders.recv()
        with sampler():
            orders.send("watching")
            orders.recv()
        orders.send("stopped")


@contextmanager
def watcher() -> Iterator[Watch]:
    """A process beside this one, which watches where it is told to."""
    orders, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=keep_watch, args=(theirs,), daemon=True)
    process.start()

    def ask(order: str) -> None:
        orders.send(order)
        orders.recv()

    @contextmanager
    def watching() -> Iterator[None]:
        ask("watch")
        yield
        ask("stop")

    yield watching
    process.terminate()


def tokens_per_s(work: Work, model: Any, seconds: float) -> float:
    started, tokens = time.monotonic(), 0
    while time.monotonic() - started < seconds:
        tokens += work(model)
    return tokens / (time.monotonic() - started)


def windows(work: Work, model: Any, watch: Watch, pairs: int, seconds: float) -> dict[bool, list[float]]:
    """Tokens a second in each window, by whether it was watched; the order turns with every pair."""
    speeds: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(pairs):
        for watched in (True, False) if turn % 2 else (False, True):
            with watch() if watched else nullcontext():
                speeds[watched].append(tokens_per_s(work, model, seconds))
    return speeds


def ratio_interval(speeds: dict[bool, list[float]]) -> tuple[float, float]:
    """95 % interval of the median ratio, over redrawn pairs."""
    ratios = [on / off for on, off in zip(speeds[True], speeds[False], strict=True)]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(DRAWS))
    return medians[round(0.025 * DRAWS)], medians[round(0.975 * DRAWS)]


def main(pairs: int = 30, seconds: float = 1.0) -> None:
    model = LlamaForCausalLM(SHAPE).to("cuda" if torch.cuda.is_available() else "cpu", torch.bfloat16).eval()
    with watcher() as beside:
        for place, watch in {"beside": beside, "within": sampler}.items():
            for work in (prefill, decode):
                tokens_per_s(work, model, WARM_UP_S)
                speeds = windows(work, model, watch, pairs, seconds)
                ratio = statistics.median(on / off for on, off in zip(speeds[True], speeds[False], strict=True))
                measured = {"work": work.__name__, "watched_from": place, "ratio": ratio}
                measured["interval"] = ratio_interval(speeds)
                print(json.dumps(measured | {"on_tokens_s": speeds[True], "off_tokens_s": speeds[False]}), flush=True)


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
