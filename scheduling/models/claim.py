"""Who plans which account: a row without history that workers claim by a conditional update."""

from django.conf import settings
from django.db import models


class PlanClaim(models.Model):
    """One row per account that has something to plan.

    `marks` counts what has happened, so that what happens during a planning is not lost with its end. A claim that is
    not released runs out at `claimed_until`: whoever looks next takes the work of a worker that was killed.
    """

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="plan_claim"
    )
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    cause = models.CharField(max_length=32, default="", blank=True)
    marks = models.PositiveIntegerField(default=0)
    token = models.UUIDField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True, help_text="when the work was last handed to the queue")
    failures = models.PositiveIntegerField(default=0, help_text="in a row")
    planned_on = models.DateField(null=True, blank=True, help_text="local date of the last plan")
    last_version = models.PositiveIntegerField(default=0, help_text="number of the newest schedule version")

    def __str__(self) -> str:
        return f"plans of {self.account_id}"
