"""The query strings of the pages, validated."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from django import forms

from bench.converters import CONFIG_KEY
from bench.pages.board import EXTRA_COLUMNS
from bench.pages.compare import FEWEST, MOST
from bench.pages.picker import OBJECTIVES
from bench.pages.sweeps import KINDS
from bench.presentation import counted
from bench.recommendation import Wish
from bench.selectors import DEFAULT_SORT, MAX_LIMIT, SORTS, BoardQuery, SweepQuery

ROWS_PER_PAGE = 300
MOST_SWEEPS = 1000
MOST_CANDIDATES = 300
BAD_KEY = "A configuration key has 16 letters and digits, 0 to 9 and a to f; its page shows it."
TIERS = (("", "any tier"), ("A", "A only"), ("AB", "A or B"), ("C", "C only"))
FACETS = ("gpu_class", "model", "quant", "engine")
SORT_CHOICES = tuple((sign + name, name) for name in SORTS for sign in ("", "-"))


def _amount(label: str, low: float, high: float, unset: str) -> forms.FloatField:
    widget = forms.NumberInput(attrs={"placeholder": unset, "step": "any"})
    return forms.FloatField(label=label, required=False, min_value=low, max_value=high, widget=widget)


class BoardFilter(forms.Form):
    """What a visitor asks of the leaderboard. A value that can't be read is named and not applied."""

    gpu_class = forms.CharField(label="GPU", required=False, max_length=120)
    model = forms.CharField(label="Model", required=False, max_length=120)
    quant = forms.CharField(label="Quantization", required=False, max_length=120)
    engine = forms.CharField(label="Engine", required=False, max_length=120)
    tier = forms.ChoiceField(label="Evidence", required=False, choices=TIERS)
    min_accuracy = forms.FloatField(
        label="Accuracy at least",
        required=False,
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"placeholder": "%", "step": "any"}),
    )
    columns = forms.MultipleChoiceField(
        label="More columns",
        required=False,
        choices=[(name, label) for name, (label, _) in EXTRA_COLUMNS.items()],
        widget=forms.CheckboxSelectMultiple,
    )
    task = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)
    sort = forms.ChoiceField(required=False, choices=SORT_CHOICES, widget=forms.HiddenInput(attrs={"form": "filters"}))
    page = forms.IntegerField(required=False, min_value=1, max_value=10_000, widget=forms.HiddenInput)

    def __init__(self, data: Mapping[str, Any], facets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        super().__init__(data, auto_id="filter-%s")
        self.tasks = [str(entry["value"]) for entry in facets.get("task", [])]
        for name in FACETS:
            known = [str(entry["value"]) for entry in facets.get(name, [])]
            self.fields[name].widget = forms.Select(choices=_choices(known, data.get(name, "")))
        self.is_valid()

    def shown(self) -> list[forms.BoundField]:
        """The fields a visitor sees, in order."""
        return [self[name] for name in (*FACETS, "tier", "min_accuracy")]

    @property
    def page_number(self) -> int:
        return self.cleaned_data.get("page") or 1

    def query(self, *, without: str | None = None) -> BoardQuery:
        """The selector's query, one filter left out if named; accuracy is asked in percent, stored as a share."""
        asked = {name: value for name, value in self.cleaned_data.items() if name != without}
        least = asked.get("min_accuracy")
        return BoardQuery(
            **{name: asked.get(name) or None for name in (*FACETS, "tier")},
            task=asked.get("task") or (self.tasks[0] if self.tasks else None),
            min_accuracy=None if least is None else least / 100,
            sort=asked.get("sort") or DEFAULT_SORT,
            limit=ROWS_PER_PAGE,
            offset=ROWS_PER_PAGE * (self.page_number - 1),
        )

    def api_query(self) -> str:
        """The same question as the API is asked it, all rows at once."""
        asked = {**asdict(self.query()), "limit": MAX_LIMIT, "offset": None}
        return urlencode({name: value for name, value in asked.items() if value is not None})

    def active(self) -> dict[str, str]:
        """The filters that narrow this view, by field, in words."""
        asked = {name: self.cleaned_data.get(name) for name in (*FACETS, "tier", "min_accuracy")}
        return {name: self._in_words(name, value) for name, value in asked.items() if value not in (None, "")}

    def _in_words(self, name: str, value: Any) -> str:
        if name == "min_accuracy":
            return f"accuracy of at least {value:g} %"
        return f"{self[name].label} {dict(TIERS).get(value, value)}"

    def link(self, **changes: Any) -> str:
        """The query string of this view with some values changed; changes start again at page 1."""
        asked = {**self.cleaned_data, "page": None, "task": self.query().task, **changes}
        asked["sort"] = None if asked.get("sort") == DEFAULT_SORT else asked.get("sort")
        told = {name: _plain(value) for name, value in asked.items() if value not in (None, "", [])}
        return "?" + urlencode(told, doseq=True)


def _choices(known: Sequence[str], asked: str, unset: str | None = "any") -> list[tuple[str, str]]:
    """Keep a value that no row has in the list, so that the form shows what was asked."""
    unknown = [asked] if asked and asked not in known else []
    return [*([("", unset)] if unset else []), *((value, value) for value in (*known, *unknown))]


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class KeysField(forms.Field):
    """Configuration keys, each once, in the order asked."""

    widget = forms.SelectMultiple

    def to_python(self, value: Any) -> list[str]:
        return list(dict.fromkeys(value or ()))

    def validate(self, value: list[str]) -> None:
        if not all(re.fullmatch(CONFIG_KEY, key) for key in value):
            raise forms.ValidationError(BAD_KEY)
        if not FEWEST <= len(value) <= MOST:
            raise forms.ValidationError(f"Tick two to four rows; asked for {counted(len(value), 'row')}.")


class ComparedRows(forms.Form):
    """The rows of one task that a visitor wants side by side."""

    task = forms.CharField(max_length=64)
    row = KeysField()

    def complaint(self) -> str | None:
        """Why nothing can be compared."""
        if self.is_valid():
            return None
        return " ".join(map(str, self.errors.get("row", ["No task is named."])))


class WishForm(forms.Form):
    """What a visitor wants to run, as one sentence. Accuracy is asked in percent and the price in cents."""

    gpu_class = forms.CharField(label="GPU", required=False, max_length=120)
    memory = _amount("Memory", 1, 10_000, "any")
    task = forms.CharField(label="Task", required=False, max_length=64)
    objective = forms.ChoiceField(label="Objective", required=False, choices=tuple(OBJECTIVES.items()))
    prompt_tokens = _amount("Tokens in", 0, 1_000_000, "any")
    output_tokens = _amount("Tokens out", 1, 1_000_000, "any")
    min_accuracy = _amount("Accuracy", 0, 100, "any")
    price = _amount("Price", -1000, 1000, "?")

    def __init__(self, data: Mapping[str, Any], facets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        super().__init__(data, auto_id="wish-%s")
        self.known = {name: [str(entry["value"]) for entry in facets.get(name, [])] for name in ("gpu_class", "task")}
        for name, unset in (("gpu_class", "any GPU"), ("task", None)):
            self.fields[name].widget = forms.Select(choices=_choices(self.known[name], data.get(name, ""), unset))
        self.is_valid()

    def wish(self, *, everything: bool = False) -> Wish:
        """The selector's question; with `everything` without the limits that leave candidates out."""
        asked = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        least, price = asked.get("min_accuracy"), asked.get("price")
        return Wish(
            objective=asked.get("objective") or "energy",
            prompt_tokens=asked.get("prompt_tokens"),
            output_tokens=asked.get("output_tokens"),
            gpu_class=asked.get("gpu_class"),
            task=asked.get("task") or next(iter(self.known["task"]), None),
            max_vram_gb=None if everything else asked.get("memory"),
            min_accuracy=None if everything or least is None else least / 100,
            price_per_kwh=price,
            limit=MOST_CANDIDATES if everything else None,
        )

    def link(self, **changes: Any) -> str:
        """The query string of this question with some values changed."""
        asked = {**self.cleaned_data, **changes}
        return "?" + urlencode({name: _plain(value) for name, value in asked.items() if value not in (None, "")})


class SweepFilter(forms.Form):
    """Which sweeps a visitor wants to see."""

    kind = forms.CharField(label="Kind", required=False, max_length=16)
    gpu_class = forms.CharField(label="GPU", required=False, max_length=120)
    model = forms.CharField(label="Model", required=False, max_length=120)
    task = forms.CharField(label="Task", required=False, max_length=64)

    def __init__(self, data: Mapping[str, Any], facets: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
        super().__init__(data, auto_id="sweep-%s")
        self.fields["kind"].widget = forms.Select(
            choices=[("", "all"), *((kind.code, kind.title) for kind in KINDS.values())]
        )
        for name in ("gpu_class", "model", "task"):
            known = [str(entry["value"]) for entry in facets.get(name, [])]
            self.fields[name].widget = forms.Select(choices=_choices(known, data.get(name, "")))
        self.is_valid()

    def named(self) -> dict[str, str | None]:
        """The filters that every sweep can be held against."""
        return {name: self.cleaned_data.get(name) or None for name in ("gpu_class", "model", "task")}

    def query(self) -> SweepQuery:
        named = self.named()
        return SweepQuery(
            kind=self.cleaned_data.get("kind") or None,
            gpu_class=named["gpu_class"],
            model=named["model"],
            task=named["task"],
            limit=MOST_SWEEPS,
        )

    def active(self) -> list[str]:
        """The filters that narrow this view, in words."""
        return [f"{self[name].label} {value}" for name, value in self.named().items() if value]

    def kind_link(self, kind: str) -> str:
        """The view of one kind under the same filters."""
        return self.link(kind=kind)

    def link(self, **changes: Any) -> str:
        asked = {**self.cleaned_data, **changes}
        return "?" + urlencode({name: value for name, value in asked.items() if value})


class RowForm(forms.Form):
    """A row of the board."""

    config = forms.RegexField(
        rf"^{CONFIG_KEY}\Z", label="Configuration", strip=True, error_messages={"invalid": BAD_KEY}
    )
    task = forms.CharField(label="Task", max_length=64)


class PageNumber(forms.Form):
    """Which page of a list; one that can't be read is the first."""

    page = forms.IntegerField(required=False, min_value=1, max_value=10_000)

    @property
    def number(self) -> int:
        return (self.cleaned_data.get("page") if self.is_valid() else None) or 1
