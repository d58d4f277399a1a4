"""Query strings of the corpus. Unknown values of a filter give an empty answer, unknown parameters are refused."""

import math
from collections.abc import Mapping
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from api.pagination import PAGE_PARAMETERS, PublicPagination
from bench import selectors
from bench.recommendation import OBJECTIVES, Wish
from bench.selectors.answers import PICKS
from bench.sweeps import KINDS

FILTERS = ("gpu_class", "task", "quant", "model", "engine", "tier")
BOARD_PARAMETERS = (*FILTERS, "min_accuracy", "sort", *PAGE_PARAMETERS, "format")
SWEEP_PARAMETERS = ("kind", "gpu_class", "model", "task", *PAGE_PARAMETERS, "format")
PAGES = (
    OpenApiParameter("limit", OpenApiTypes.INT, description="rows a page, at most 500"),
    OpenApiParameter("offset", OpenApiTypes.INT, description="rows to pass over"),
)
MAX_TOKENS = 10_000_000
Parameters = serializers.Serializer[dict[str, Any]]


class FiniteField(serializers.FloatField):
    """A number; `nan` and `inf`, which Python reads as well, are none."""

    def to_internal_value(self, data: Any) -> float:
        value = super().to_internal_value(data)
        if not math.isfinite(value):
            self.fail("invalid")
        return value


def _word(length: int, help_text: str = "") -> serializers.CharField:
    return serializers.CharField(required=False, allow_blank=True, max_length=length, help_text=help_text)


class BoardParameters(Parameters):
    """The query string of the leaderboard and of the routing table."""

    gpu_class = _word(120)
    task = _word(64)
    quant = _word(120)
    model = _word(120)
    engine = _word(120)
    tier = _word(8, "one or several: A,B")
    min_accuracy = FiniteField(required=False, min_value=0, max_value=1)
    sort = serializers.CharField(
        required=False,
        default=selectors.DEFAULT_SORT,
        help_text=f"one of {', '.join(selectors.SORTS)}; with - in front, descending. Null is last either way.",
    )

    def validate_sort(self, value: str) -> str:
        if value.removeprefix("-") not in selectors.SORTS:
            raise ValidationError(f"{value[:40]!r} is no sort. Sorts are {', '.join(selectors.SORTS)}.", "unknown_sort")
        return value


class WishParameters(Parameters):
    """What to recommend for. Without token counts the shape is the one that the task itself has."""

    objective = serializers.ChoiceField(OBJECTIVES, default=OBJECTIVES[0])
    prompt_tokens = FiniteField(required=False, min_value=0, max_value=MAX_TOKENS, help_text="of one request")
    output_tokens = FiniteField(required=False, min_value=0, max_value=MAX_TOKENS, help_text="of one answer")
    gpu_class = _word(120)
    task = _word(64, "without one, the task with most rows")
    max_vram_gb = FiniteField(required=False, min_value=0, max_value=1e6, help_text="GB; unknown memory fits in none")
    min_accuracy = FiniteField(required=False, min_value=0, max_value=1)
    tier = _word(8, "one or several: A,B")
    price_per_kwh = FiniteField(required=False, min_value=-1000, max_value=1000, help_text="in any currency")
    limit = serializers.IntegerField(required=False, default=PICKS, min_value=1, max_value=500)


class SweepParameters(Parameters):
    kind = _word(16, f"one of {', '.join(KINDS)}")
    gpu_class = _word(120)
    model = _word(120)
    task = _word(64)


class CapParameters(Parameters):
    tolerance_pct = FiniteField(
        required=False, default=5.0, min_value=0, max_value=100, help_text="% of the stock speed that may be lost"
    )


class Window(PublicPagination):
    """A page whose rows a selector cuts out itself."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.limit: int = self.get_limit(request)
        self.offset: int = self.get_offset(request)


def board_query(request: Request) -> selectors.BoardQuery:
    asked, window = _checked(BoardParameters, request), Window(request)
    named: dict[str, Any] = {name: asked.get(name) or None for name in FILTERS if name != "tier"}
    return selectors.BoardQuery(
        **named,
        tier=_tiers(asked),
        min_accuracy=asked.get("min_accuracy"),
        sort=asked["sort"],
        limit=window.limit,
        offset=window.offset,
    )


def wish(request: Request) -> Wish:
    asked = _checked(WishParameters, request)
    words = {name: asked.get(name) or None for name in ("gpu_class", "task")}
    return Wish(**{**asked, **words, "tier": _tiers(asked)})


def sweep_query(request: Request) -> selectors.SweepQuery:
    asked, window = _checked(SweepParameters, request), Window(request)
    named: dict[str, Any] = {name: value or None for name, value in asked.items()}
    return selectors.SweepQuery(**named, limit=window.limit, offset=window.offset)


def tolerance_pct(request: Request) -> float:
    value: float = _checked(CapParameters, request)["tolerance_pct"]
    return value


def _tiers(asked: Mapping[str, Any]) -> str | None:
    return "".join(letter for letter in asked.get("tier", "") if letter.isalnum()) or None


def _checked(parameters: type[Parameters], request: Request) -> Mapping[str, Any]:
    checked = parameters(data=request.query_params)
    checked.is_valid(raise_exception=True)
    asked: Mapping[str, Any] = checked.validated_data
    return asked
