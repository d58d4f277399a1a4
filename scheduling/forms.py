"""Forms of the pages of scheduling. Rules stand in the services; a form only reads what was typed."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django import forms
from django.http import QueryDict

from accounts.selectors import timezone_names
from asyncenergy.errors import AsyncEnergyError
from scheduling.errors import FieldRefused
from scheduling.models import NOTICES, Market, Workflow
from scheduling.windows import Window, Words, windows

LONGEST_H = 7 * 24


MINUTE_S = 60.0
LONGEST_MIN = 31 * 24 * 60
TIME_HELP = "In your own words: by 7am, 22:00, tomorrow 18:00, by friday 7am, in 4 h."


class CheapestForm(forms.Form):
    """When a job would cost least on a market, as one sentence. Times are read in the market's timezone."""

    market = forms.ChoiceField(label="Market", required=False)
    hours = forms.FloatField(label="Length", required=False, min_value=0.05, max_value=LONGEST_H)
    watts = forms.FloatField(label="Power", required=False, min_value=1, max_value=1_000_000)
    earliest = forms.CharField(label="Not before", required=False, max_length=120)
    deadline = forms.CharField(label="Done by", required=False, max_length=120)

    DEFAULTS: Mapping[str, Any] = {"hours": "4", "watts": "350", "earliest": "", "deadline": "by 7am"}

    def __init__(self, data: QueryDict, markets: Sequence[Market]) -> None:
        default = next((market for market in markets if market.is_default), next(iter(markets), None))
        usual = {**self.DEFAULTS, "market": default.slug if default else ""}
        super().__init__({**usual, **data.dict()}, auto_id="asked-%s")
        self.fields["market"].choices = [(market.slug, market.name) for market in markets]  # type: ignore[attr-defined]
        for name, attributes in _ATTRIBUTES.items():
            self.fields[name].widget.attrs |= attributes
        self.is_valid()
        known = {market.slug: market for market in markets}
        self.market_asked = known.get(self.cleaned_data.get("market", ""), default)

    def asked(self, name: str) -> Any:
        """What was asked, or the usual where it was not or can't be taken."""
        value = self.cleaned_data.get(name)
        return self.fields[name].clean(self.DEFAULTS[name]) if value in (None, "") else value

    def window(self, zone: ZoneInfo, now: datetime) -> Window | None:
        """The window that was meant; None, with the reason at its field, where it can't be read."""
        words = Words(self.asked("deadline"), self.asked("earliest"), "none", now, zone)
        try:
            return next(iter(windows(words, now=now)), None)
        except FieldRefused as error:
            take_error(self, error, {"earliest_start": "earliest"})
            return None

    def link(self) -> str:
        asked = {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
        return "?" + urlencode({name: _plain(value) for name, value in asked.items()})


_ATTRIBUTES: Mapping[str, dict[str, Any]] = {
    "hours": {"step": "any", "inputmode": "decimal"},
    "watts": {"step": "any", "inputmode": "decimal"},
    "earliest": {"placeholder": "now", "size": 12},
    "deadline": {"placeholder": "by 7am", "size": 12},
}


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def take_error(form: forms.Form, error: AsyncEnergyError, fields: Mapping[str, str] | None = None) -> None:
    """Show a service's refusal at the field that it names, else above the form."""
    for place in error.errors or [{"attr": "", "detail": error.detail}]:
        named = (fields or {}).get(place["attr"], place["attr"])
        form.add_error(named if named in form.fields else None, place["detail"])


def _text(label: str, length: int, help_text: str = "", **attributes: Any) -> forms.CharField:
    widget = forms.TextInput(attrs=attributes)
    return forms.CharField(label=label, max_length=length, required=False, help_text=help_text, widget=widget)


def _number(label: str, least: float, most: float, help_text: str = "") -> forms.FloatField:
    widget = forms.NumberInput(attrs={"step": "any"})
    return forms.FloatField(
        label=label, required=False, min_value=least, max_value=most, help_text=help_text, widget=widget
    )


class WorkflowForm(forms.Form):
    """A workflow as its owner describes it; lengths are asked in minutes."""

    name = forms.CharField(label="Name", max_length=200, help_text="As it shall stand in the plan.")
    framework = forms.ChoiceField(label="What it is", choices=Workflow.Framework.choices)
    minutes = _number("How long it takes (min)", 1 / 60, LONGEST_MIN, "Your estimate; measured runs replace it.")
    nameplate_watts = _number("What it draws (W)", 0.001, 1_000_000, "Your estimate; measured runs replace it.")
    deadline = _text("Done", 120, TIME_HELP, placeholder="by 7am")
    earliest_start = _text("Not before", 120, "Empty: at any time before the deadline.", placeholder="22:00")
    recurrence = forms.ChoiceField(label="How often", choices=Workflow.Recurrence.choices, initial="daily")
    controller_id = _text("Controller", 120, "Its name; empty: any controller of yours, one job at a time.")
    priority = forms.IntegerField(
        label="Priority",
        required=False,
        min_value=-1000,
        max_value=1000,
        help_text="Where not all fits, larger goes first.",
    )
    interruptible = forms.BooleanField(
        label="May be interrupted", required=False, help_text="Our controller stops and resumes it; it has to be named."
    )
    min_run_minutes = _number("Shortest piece (min)", 0, LONGEST_MIN)
    restart_wh = _number("Energy of a restart (Wh)", 0, 1_000_000)
    bench_gpu_class = _text("GPU", 120, "As on the leaderboard: its published power predicts the first run.")
    bench_model_size_class = _text("Model size", 32, "Such as 8b.", placeholder="8b")
    bench_quant = _text("Quantization", 120)

    MAIN = (
        "name",
        "framework",
        "minutes",
        "nameplate_watts",
        "deadline",
        "earliest_start",
        "recurrence",
        "controller_id",
    )
    SERVICE_NAMES: Mapping[str, str] = {"est_duration_s": "minutes", "min_run_s": "min_run_minutes"}

    @classmethod
    def of(cls, workflow: Workflow) -> "WorkflowForm":
        """The form with what is said of a workflow."""
        same = {name: _plain(getattr(workflow, name)) for name in cls.base_fields if hasattr(workflow, name)}
        length, piece = workflow.est_duration_s, workflow.min_run_s
        return cls(
            initial={
                **same,
                "minutes": None if length is None else _plain(length / MINUTE_S),
                "min_run_minutes": _plain(piece / MINUTE_S),
            }
        )

    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN]

    def more(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.MAIN]

    @property
    def has_more(self) -> bool:
        """Whether something is said, or wrong, beyond the usual."""
        return any(field.errors or field.value() not in (None, "", 0, False) for field in self.more())

    def said(self) -> dict[str, Any]:
        """What was said, in the service's names and units."""
        cleaned = dict(self.cleaned_data)
        minutes, piece = cleaned.pop("minutes"), cleaned.pop("min_run_minutes")
        emptied = ("controller_id", "bench_gpu_class", "bench_model_size_class", "bench_quant")
        return {
            **cleaned,
            **{name: cleaned[name] or None for name in emptied},
            "priority": cleaned["priority"] or 0,
            "restart_wh": cleaned["restart_wh"] or 0.0,
            "est_duration_s": None if minutes is None else minutes * MINUTE_S,
            "min_run_s": (piece or 0.0) * MINUTE_S,
        }


PERIOD_HELP = "One a line: days, from-to, fee, such as “mon-fri 22:00-06:00 0.05”. Empty: the grid fee always holds."
_PERIOD = re.compile(r"(?P<days>\S+)\s+(?P<begin>[\d:]+)\s*[-–]\s*(?P<end>[\d:]+)\s+(?P<price>\S+)")


class PeriodsField(forms.CharField):
    """Fees by weekday and wall time, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "placeholder": "mon-fri 22:00-06:00 0.05"})

    def to_python(self, value: Any) -> Any:
        return [self._row(line) for line in (value or "").splitlines() if line.strip()]

    def _row(self, line: str) -> dict[str, str]:
        found = _PERIOD.fullmatch(line.strip())
        if found is None:
            words = f"“{line.strip()[:80]}” is no period. Write one such as mon-fri 22:00-06:00 0.05."
            raise forms.ValidationError(words)
        return {"days": found["days"], "from": found["begin"], "to": found["end"], "price": found["price"]}

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return "\n".join(f"{row.get('days', 'all')} {row['from']}-{row['to']} {row['price']}" for row in value)


def _fee(label: str, help_text: str = "") -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        max_digits=12,
        decimal_places=9,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class SettingsForm(forms.Form):
    """Where an account is, what it pays, and what its circuit bears. VAT is asked in percent."""

    timezone = forms.ChoiceField(
        label="Timezone",
        choices=lambda: [(name, name) for name in timezone_names()],
        help_text="“By 7am” is read in it. What recurs keeps its wall time.",
    )
    market = forms.ChoiceField(label="Market", help_text="Its prices are fetched once somebody here has chosen it.")
    watt_limit = _number("Watt limit (W)", 1, 1_000_000, "All controllers together, as on one circuit; empty: none.")
    supplier_fee = _fee("Supplier’s fee per kWh", "In the market’s currency, before VAT.")
    levies = _fee("Levies and taxes per kWh")
    grid_fee = _fee("Grid fee per kWh")
    grid_periods = PeriodsField(label="Grid fee by time of day", required=False, help_text=PERIOD_HELP)
    vat = _number("VAT (%)", 0, 100)

    FEES = ("supplier_fee", "levies", "grid_fee")
    MAIN = ("timezone", "market", "watt_limit")
    SERVICE_NAMES: Mapping[str, str] = {"tariff.grid_periods": "grid_periods"}

    def __init__(self, data: QueryDict | None, view: Mapping[str, Any], markets: Sequence[Market]) -> None:
        tariff = view["tariff"]
        super().__init__(
            data,
            initial={
                **{name: _plain(view[name]) for name in self.MAIN},
                **{name: _short(getattr(tariff, name)) for name in self.FEES},
                "grid_periods": tariff.grid_periods,
                "vat": _short(Decimal(tariff.vat) * 100),
            },
        )
        self.fields["market"].choices = [(m.slug, f"{m.name} ({m.currency})") for m in markets]  # type: ignore[attr-defined]

    def main(self) -> list[forms.BoundField]:
        return [self[name] for name in self.MAIN]

    def fees(self) -> list[forms.BoundField]:
        return [field for field in self if field.name not in self.MAIN]

    def said(self) -> dict[str, Any]:
        """What was said, in the service's names and units."""
        cleaned = self.cleaned_data
        fees = {name: cleaned[name] or Decimal(0) for name in self.FEES}
        vat = Decimal(str(cleaned["vat"] or 0)) / 100
        return {
            **{name: cleaned[name] for name in self.MAIN},
            "tariff": {**fees, "grid_periods": cleaned["grid_periods"], "vat": round(vat, 5)},
        }


def _short(amount: Decimal | float | int) -> str:
    """A decimal without the zeros that say nothing."""
    return f"{Decimal(amount).normalize():f}"


class CapacityForm(forms.Form):
    """How many jobs a controller runs at once."""

    controller_id = forms.CharField(max_length=120)
    capacity = forms.IntegerField(min_value=1, max_value=100)


class NoticesForm(forms.Form):
    """What an account wants to be told, and where."""

    failed_runs = forms.BooleanField(
        label="A run failed", required=False, help_text="Or was begun and not done by its deadline."
    )
    unmatched_workflows = forms.BooleanField(
        label="Nobody ran a workflow",
        required=False,
        help_text="Its place in the plan passed, and no controller said a word.",
    )
    quiet_controllers = forms.BooleanField(
        label="A controller has gone quiet", required=False, help_text="It has not asked for its schedule for an hour."
    )
    webhook_url = forms.CharField(
        label="Webhook",
        required=False,
        max_length=500,
        help_text="An https address on port 443 that takes a POST of JSON. Empty: by e-mail.",
        widget=forms.URLInput(attrs={"placeholder": "https://example.org/hook"}),
    )

    def said(self) -> dict[str, Any]:
        wanted = {name: self.cleaned_data[name] for name in NOTICES}
        return {"notices": wanted, "webhook_url": self.cleaned_data["webhook_url"]}
