"""Forms of the pages of scheduling. Rules stand in the services; a form only reads what was typed."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django import forms
from django.http import QueryDict

from asyncenergy.errors import AsyncEnergyError
from scheduling.errors import FieldRefused
from scheduling.models import Market
from scheduling.windows import Window, Words, windows

LONGEST_H = 7 * 24


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
