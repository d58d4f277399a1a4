"""The tools of the MCP server: typed arguments, units in their descriptions, a call to a selector."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Annotated, Any, Literal, ParamSpec, TypeVar
from uuid import UUID

from django.db import close_old_connections
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import AwareDatetime, Field

from api.mcp_answers import MAX_ROWS, PICK_FIELDS, ROW_FIELDS, answer, plain_config, plain_rows, plain_run
from asyncenergy.errors import AsyncEnergyError
from bench import selectors
from bench.errors import NotFound
from bench.recommendation import Wish
from bench.selectors import BoardQuery
from bench.selectors.methodology import methodology as describe
from scheduling.selectors.windows import cheapest_window as find_window

P = ParamSpec("P")
R = TypeVar("R")
Answer = dict[str, Any]

Name = Annotated[str | None, Field(description="exact name, as facets and rows have it", max_length=120)]
Task = Annotated[str | None, Field(description="task, such as gsm8k or arith; rows of two tasks can't be compared")]
Tiers = Annotated[str | None, Field(description="evidence of the energy, one or several letters of ABC", max_length=3)]
Share = Annotated[float | None, Field(description="share of right answers, 0..1", ge=0, le=1)]
Rows = Annotated[int, Field(description="rows at most", ge=1, le=MAX_ROWS)]
Tokens = Annotated[float | None, Field(description="tokens", ge=0, le=10_000_000)]
Sort = Literal[
    "joules_per_correct_answer",
    "joules_per_token",
    "-accuracy",
    "-pooled_tokens_per_second",
    "ttft_p50_s",
]


def with_fresh_connections(tool: Callable[P, R]) -> Callable[P, R]:
    """Tools run outside of Django's requests: without this, threads keep connections that a restart has broken.

    What a caller can understand is told in its own words. PostgreSQL takes no NUL in a text, so none is looked up.
    """

    @wraps(tool)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if held := [name for name, value in kwargs.items() if isinstance(value, str) and "\0" in value]:
            raise ToolError(f"{held[0]} holds a NUL character, which no name has. Leave it out.")
        close_old_connections()
        try:
            return tool(*args, **kwargs)
        except AsyncEnergyError as error:
            raise ToolError(error.detail) from error
        finally:
            close_old_connections()

    return call


@with_fresh_connections
def leaderboard(
    task: Task = None,
    gpu_class: Name = None,
    model: Name = None,
    engine: Name = None,
    quantization: Name = None,
    tier: Tiers = None,
    min_accuracy: Share = None,
    sort: Sort = "joules_per_correct_answer",
    limit: Rows = 20,
) -> Answer:
    """Measured configurations of AI models, least joules (J) per correct answer first. Energy in J of the boundary that
    the row names; accuracy 0..1; speed in completion tokens per second; null means undefined or not measured, never 0.
    Rows that share a rank can't be told apart."""
    query = BoardQuery(gpu_class, task, quantization, model, engine, tier, min_accuracy, sort, limit)
    rows = selectors.board_rows(query)
    return answer({"count": selectors.board_count(query), "rows": plain_rows(rows)}, rows)


@with_fresh_connections
def config_detail(config_key: Annotated[str, Field(description="16 hex, from a row", max_length=16)]) -> Answer:
    """One configuration over all its tasks: settings, cost model (J of an item = e_fixed_j + alpha per uncached prompt
    token + beta per completion token, on the median machine), what loading takes (s, J, W), grades, rows."""
    found = selectors.config_detail(config_key)
    if found is None:
        raise NotFound("configuration on the board")
    return answer(plain_config(found), found["rows"])


@with_fresh_connections
def recommend(
    objective: Annotated[
        Literal["energy", "speed", "balanced"],
        Field(description="least J per correct answer, least seconds an answer, or both"),
    ] = "energy",
    prompt_tokens: Tokens = None,
    output_tokens: Tokens = None,
    gpu_class: Name = None,
    task: Task = None,
    max_vram_gb: Annotated[float | None, Field(description="memory of the device, GB", ge=0)] = None,
    min_accuracy: Share = None,
    tier: Tiers = None,
    price_per_kwh: Annotated[float | None, Field(description="price of 1 kWh, any currency", ge=-1000, le=1000)] = None,
    limit: Rows = 5,
) -> Answer:
    """Which measured configuration to run for a workload, best first, each with predicted J per correct answer,
    seconds an answer, cost of one correct answer in the currency of the price, and the reasons for its place."""
    wish = Wish(
        objective, prompt_tokens, output_tokens, gpu_class, task, max_vram_gb, min_accuracy, tier, price_per_kwh, limit
    )
    found = selectors.recommend(wish)
    picks = found["results"]
    rows = plain_rows(picks, (*ROW_FIELDS, *PICK_FIELDS, "extrapolated", "tied_with_best", "why"))
    return answer({**found, "results": rows}, picks)


@with_fresh_connections
def run_detail(run_id: Annotated[UUID, Field(description="run_id of a row")]) -> Answer:
    """One published run with its evidence: every derived figure (J, W, s, tokens), energy by phase, the gates that it
    passed or not, and up to 100 items with their energy in J. The full trace is at the path in `trace`."""
    run = selectors.run_detail(run_id)
    if run is None or run.is_simulated:
        raise NotFound("published run")
    return answer(plain_run(run), [{"energy_boundary": run.config.get("energy_boundary"), "tier": run.tier}])


@with_fresh_connections
def methodology() -> Answer:
    """How each number is made: definitions, boundaries, tiers, formulas, the gates that a run must pass, thresholds of
    the grades. Read it before citing a figure."""
    found = describe()
    return {**answer(found), "energy_boundary": list(found["boundaries"]), "tier": list(found["tiers"])}


@with_fresh_connections
def cheapest_window(
    market: Annotated[str, Field(description="short name of a public market", max_length=50)],
    duration_minutes: Annotated[float, Field(description="length of the run, minutes", gt=0, le=10_080)],
    deadline: Annotated[AwareDatetime, Field(description="latest end, ISO 8601 with an offset")],
    earliest: Annotated[AwareDatetime | None, Field(description="earliest start, ISO 8601 with an offset")] = None,
) -> Answer:
    """The cheapest time to run something in a market, by spot prices without fees: start and end in UTC, mean price per
    kWh then and now, in the market's currency. `published_share` below 1: part of the prices is a forecast."""
    asked: dict[str, datetime | None] = {"deadline": deadline, "earliest": earliest}
    found = find_window(market, duration_s=60 * duration_minutes, **asked)  # type: ignore[arg-type]  # of known types
    names = found.__dataclass_fields__
    return answer({name: _plain(getattr(found, name)) for name in names})


def _plain(value: Any) -> Any:
    return value.isoformat(timespec="seconds") if isinstance(value, datetime) else value


TOOLS: tuple[Callable[..., Answer], ...] = (
    leaderboard,
    config_detail,
    recommend,
    run_detail,
    methodology,
    cheapest_window,
)
