"""Asks the items of one unit, several at a time where wanted, and hands each result on as it comes."""

import re
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from asyncenergy_controller import clock
from asyncenergy_controller.bench.plan import Unit
from asyncenergy_controller.bench.stop import StopFlag
from asyncenergy_controller.bench.store import ItemRow
from asyncenergy_controller.engine import ChatRequest, ChatResult, EngineError
from asyncenergy_controller.tasks.base import Item, Task
from asyncenergy_controller.wire import SHIPPED_ANSWER_TASKS

MAX_FAILURES_IN_A_ROW = 5
_LOOK_UP_S = 0.2
_SHIPPABLE = re.compile(r"[0-9A-Za-z.+\-/]{1,32}")


class Engine(Protocol):
    def chat(self, request: ChatRequest) -> ChatResult: ...


class EngineGaveUp(EngineError):
    """So many questions failed in a row that the engine can't be taken to be there any more."""


@dataclass(frozen=True)
class Asker:
    """Asks one item of one unit."""

    engine: Engine
    task: Task
    unit: Unit
    model: str
    seed: int
    max_tokens: int
    extra: dict[str, Any] = field(default_factory=dict)

    def ask(self, item: Item) -> ItemRow:
        """A failed request is a row too: it counts as a wrong answer, with the time it took."""
        t_start_s = clock.monotonic()
        try:
            result = self.engine.chat(self.request(item))
        except EngineError as error:
            return ItemRow(item.index, t_start_s, clock.monotonic(), 0.0, "error", error=str(error))
        return self._row(item, result)

    def request(self, item: Item) -> ChatRequest:
        return ChatRequest(
            model=self.model,
            messages=item.messages,
            max_tokens=self.max_tokens,
            temperature=self.unit.temperature,
            seed=self.seed,
            stop=tuple(self.task.stop),
            thinking=None if self.unit.thinking == "default" else self.unit.thinking == "on",
            reasoning_effort=self.unit.reasoning_effort,
            extra=self.extra,
        )

    def _row(self, item: Item, result: ChatResult) -> ItemRow:
        extracted = self.task.extract(result.text)
        return ItemRow(
            index=item.index,
            t_start_s=result.t_start_s,
            t_end_s=result.t_end_s,
            correct=0.0 if result.finish_reason == "error" else self.task.score(item, extracted, result.text),
            finish_reason=result.finish_reason,
            prompt_tokens=result.prompt_tokens,
            cached_prompt_tokens=result.cached_prompt_tokens,
            completion_tokens=result.completion_tokens,
            answer=shippable(self.task.name, extracted),
            ttft_s=result.ttft_s,
            streamed=result.streamed,
            completion=result.text,
        )


def shippable(task: str, answer: str | None) -> str | None:
    """The answer as it may leave the machine, None where it may not."""
    if task not in SHIPPED_ANSWER_TASKS or answer is None:
        return None
    return answer if _SHIPPABLE.fullmatch(answer) else None


def ask_all(
    items: Sequence[Item],
    ask: Callable[[Item], ItemRow],
    *,
    concurrency: int,
    stop: StopFlag,
    before_each: Callable[[], None],
    on_row: Callable[[ItemRow], None],
) -> None:
    """Ask `items` in order, `concurrency` at a time, until done or stopped; what is in flight then is finished.

    `before_each` runs in the worker before its item and may wait or raise; `on_row` runs in this thread. Raises what
    a worker raised, or EngineGaveUp after several failures in a row; every row has been handed on by then.
    """
    waiting = deque(items)
    lock = threading.Lock()
    end = _End(patience=max(MAX_FAILURES_IN_A_ROW, concurrency))

    def work() -> ItemRow | None:
        before_each()
        with lock:
            item = waiting.popleft() if waiting and stop.reason is None and end.error is None else None
        return ask(item) if item else None

    with ThreadPoolExecutor(max_workers=concurrency, thread_name_prefix="ask") as pool:
        running: set[Future[ItemRow | None]] = {pool.submit(work) for _ in range(min(concurrency, len(items)))}
        while running:
            done, running = wait(running, timeout=_LOOK_UP_S, return_when=FIRST_COMPLETED)
            for row in filter(None, map(end.row_of, done)):
                on_row(row)
                if waiting and stop.reason is None and end.error is None:
                    running.add(pool.submit(work))
    if end.error:
        raise end.error


@dataclass
class _End:
    """Keeps the error that ends the asking, while the other workers' rows still come in."""

    patience: int
    failures: int = 0
    error: BaseException | None = None

    def row_of(self, future: "Future[ItemRow | None]") -> ItemRow | None:
        if (error := future.exception()) is not None:
            self.error = self.error or error
            return None
        row = future.result()
        self.failures = self.failures + 1 if row and row.finish_reason == "error" else 0
        if row and self.failures >= self.patience:
            said = f"{self.failures} questions failed in a row; the last said: {row.error}"
            self.error = self.error or EngineGaveUp(said)
        return row
