"""Work that comes back, and each time that it has to be done."""

import secrets
import time
import uuid

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from asyncenergy import clock


class Workflow(models.Model):
    """Deferrable work as its owner describes it. Times are the owner's own words, in their timezone."""

    class Framework(models.TextChoices):
        COMMAND = "command", "command"
        OLLAMA = "ollama", "Ollama"
        OPENAI = "openai", "OpenAI-compatible"
        CHARGE = "charge", "charge"

    class Recurrence(models.TextChoices):
        NONE = "none", "once"
        DAILY = "daily", "daily"
        WEEKLY = "weekly", "weekly"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="workflows")
    name = models.CharField(max_length=200)
    framework = models.CharField(max_length=8, choices=Framework)
    request = models.JSONField(null=True, blank=True)
    est_duration_s = models.FloatField(null=True, blank=True)
    deadline = models.CharField(max_length=120, blank=True, default="")
    earliest_start = models.CharField(max_length=120, blank=True, default="")
    recurrence = models.CharField(max_length=8, choices=Recurrence, default=Recurrence.NONE)
    nameplate_watts = models.FloatField(null=True, blank=True)
    enabled = models.BooleanField(default=True)
    bench_gpu_class = models.CharField(max_length=120, null=True, blank=True)
    bench_model_size_class = models.CharField(max_length=32, null=True, blank=True)
    bench_quant = models.CharField(max_length=120, null=True, blank=True)
    controller_id = models.CharField(max_length=120, null=True, blank=True)
    interruptible = models.BooleanField(default=False)
    min_run_s = models.FloatField(default=0)
    restart_wh = models.FloatField(default=0)
    priority = models.SmallIntegerField(default=0, help_text="larger is more important")
    said_at = models.DateTimeField(default=clock.now, help_text="when the words of the times were said")
    created_at = models.DateTimeField(default=clock.now)
    updated_at = models.DateTimeField(default=clock.now)
    deleted_at = models.DateTimeField(null=True, blank=True)
    idempotency_key = models.CharField(max_length=200, null=True, blank=True)
    body_sha256 = models.CharField(max_length=64, blank=True, default="")

    class Meta:
        ordering = ["-created_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["account", "idempotency_key"], name="workflow_idempotency_key_unique"),
            models.CheckConstraint(
                condition=Q(est_duration_s__isnull=True) | Q(est_duration_s__gt=0), name="workflow_duration_positive"
            ),
            models.CheckConstraint(
                condition=Q(nameplate_watts__isnull=True) | Q(nameplate_watts__gt=0), name="workflow_watts_positive"
            ),
            models.CheckConstraint(
                condition=Q(min_run_s__gte=0, restart_wh__gte=0), name="workflow_interruption_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["account", "deleted_at"], name="workflow_of_account")]

    def __str__(self) -> str:
        return self.name


def ordered_uuid() -> uuid.UUID:
    """Return an id that sorts by the time it was made (UUID version 7).

    Of two plans that cost the same the one is taken whose earlier ids run earlier: what is new then gives way to what
    was there, and published starts stay.
    """
    microseconds = time.time_ns() // 1000
    milliseconds, rest = divmod(microseconds, 1000)
    head = milliseconds << 80 | 0x7 << 76 | (rest * 4096 // 1000) << 64
    return uuid.UUID(int=head | 0b10 << 62 | secrets.randbits(62))


class Occurrence(models.Model):
    """One time that a workflow has to be done, named by the local date of its deadline."""

    class Status(models.TextChoices):
        OPEN = "open", "to be done"
        RUNNING = "running", "running"
        UNREPORTED = "unreported", "over, without a report"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        MISSED = "missed", "missed"
        CANCELLED = "cancelled", "cancelled"

    id = models.UUIDField(primary_key=True, default=ordered_uuid, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="occurrences")
    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="occurrences")
    key = models.CharField(max_length=40)
    earliest_start = models.DateTimeField()
    deadline = models.DateTimeField()
    status = models.CharField(max_length=12, choices=Status, default=Status.OPEN)
    reason = models.CharField(max_length=200, blank=True, default="")
    attempt = models.PositiveSmallIntegerField(default=1)
    failures = models.PositiveSmallIntegerField(default=0, help_text="attempts that were reported as failed")
    not_before = models.DateTimeField(null=True, blank=True, help_text="back-off after a failure")
    at_once = models.BooleanField(default=False, help_text="its owner wants it now, whatever it costs")
    planned_start = models.DateTimeField(null=True, blank=True)
    planned_end = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    silent_since = models.DateTimeField(
        null=True, blank=True, help_text="end of the first place that passed without a word"
    )
    baseline = models.JSONField(null=True, blank=True, help_text="what starting at once would have been, frozen")
    created_at = models.DateTimeField(default=clock.now)

    class Meta:
        ordering = ["deadline", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["workflow", "key"], name="occurrence_unique_per_workflow"),
            models.CheckConstraint(condition=Q(deadline__gt=F("earliest_start")), name="occurrence_has_a_window"),
        ]
        indexes = [
            models.Index(fields=["account", "status"], name="occurrence_of_account"),
            models.Index(fields=["status", "planned_end"], name="occurrence_slots_over"),
            models.Index(fields=["status", "deadline"], name="occurrence_deadlines_over"),
            models.Index(fields=["silent_since"], name="occurrence_silent"),
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.workflow_id}"


TO_PLAN = (Occurrence.Status.OPEN, Occurrence.Status.RUNNING)
UNFINISHED = (*TO_PLAN, Occurrence.Status.UNREPORTED)
