"""What an account wants to be told, and how telling it went."""

import uuid

from django.conf import settings
from django.db import models

from asyncenergy import clock


class Notice(models.Model):
    """One event, told once. `next_attempt_at` is null when it was sent, given up, or is not wanted any more."""

    class Kind(models.TextChoices):
        FAILED_RUN = "failed_runs", "a run failed"
        UNMATCHED = "unmatched_workflows", "nobody ran a workflow"
        QUIET = "quiet_controllers", "a controller has gone quiet"
        TEST = "test", "a test"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notices")
    kind = models.CharField(max_length=20, choices=Kind)
    key = models.CharField(max_length=120, help_text="names the event")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    facts = models.JSONField(default=dict, help_text="the same for programs")
    happened_at = models.DateTimeField()
    created_at = models.DateTimeField(default=clock.now)
    next_attempt_at = models.DateTimeField(null=True, blank=True, db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True, default="")

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["account", "key"], name="notice_once_per_event")]

    def __str__(self) -> str:
        return self.subject
