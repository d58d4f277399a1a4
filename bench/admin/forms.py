"""The one form of the desk: a decision and why."""

from collections.abc import Iterable
from typing import Any

from django import forms

from bench.models import Decision, Run
from bench.services.moderation import MODERATORS_REASONS, actions_from

WORDS = {
    Decision.Action.PUBLISH: "Publish the recomputed figures",
    Decision.Action.REJECT: "Hide, and tell the submitter why",
    Decision.Action.WITHDRAW: "Withdraw",
    Decision.Action.REINSTATE: "Take up again: back into the queue",
}


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(label="Decision", widget=forms.RadioSelect)
    reason_code = forms.ChoiceField(
        label="Reason", choices=[(reason.value, reason.label) for reason in MODERATORS_REASONS]
    )
    note = forms.CharField(
        label="In words, for the public log",
        help_text="Needed to hide or withdraw.",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 4}),
    )

    def __init__(self, data: Any = None, *, actions: Iterable[str], initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, auto_id="decide-%s", initial=initial)
        self.fields["decision"].choices = [(action, WORDS[Decision.Action(action)]) for action in actions]  # type: ignore[attr-defined]  # a ChoiceField

    @classmethod
    def for_run(cls, run: Run, data: Any = None) -> "DecisionForm":
        """The form with the decisions that this run's state allows."""
        return cls(data, actions=actions_from(run.status))
