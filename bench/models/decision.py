"""The log of decisions: written, never changed."""

from django.conf import settings
from django.db import models

from bench.models.run import Run
from bench.models.status import ReviewStatus


class Decision(models.Model):
    """What happened to a run, when, why and by whom."""

    class Action(models.TextChoices):
        QUARANTINE = "quarantine", "quarantined"
        PUBLISH = "publish", "published"
        REJECT = "reject", "hidden"
        WITHDRAW = "withdraw", "withdrawn"
        REINSTATE = "reinstate", "taken up again"

    class Reason(models.TextChoices):
        CHECKED = "checked", "checked, nothing against it"
        FIGURES_DIFFER = "figures_differ", "claimed and recomputed figures differ"
        IMPLAUSIBLE = "implausible", "not plausible for this hardware"
        FAULTY = "faulty", "fault in the measurement"
        REPLAY = "replay", "a recording that was sent before"
        MISLABELLED = "mislabelled", "labels do not fit the run"
        SUBMITTER = "submitter", "withdrawn by the submitter"
        REFERENCE = "reference", "reference data of the project"
        DEMO = "demo", "shown by a demonstration"
        RULE = "rule", "a gate held it"
        OTHER = "other", "other, see the note"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="decisions")
    action = models.CharField(max_length=16, choices=Action)
    from_status = models.CharField(max_length=16, choices=ReviewStatus)
    to_status = models.CharField(max_length=16, choices=ReviewStatus)
    reason_code = models.CharField(max_length=32, choices=Reason)
    note = models.TextField(blank=True, default="")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    decider = models.CharField(max_length=64, help_text="Who decided, in words fit for the public log.")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-pk"]
        indexes = [models.Index(fields=["-at", "-id"], name="decision_newest_first")]

    def __str__(self) -> str:
        return f"{self.get_action_display()} on {self.at:%Y-%m-%d}"
