"""One measured run: what was claimed, what the server derived, and what was decided."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from bench.models.node import Node
from bench.models.status import ReviewStatus
from bench.models.submission import Submission
from bench.packing import unpack_columns


def _never_negative(field: str) -> models.CheckConstraint:
    condition = Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__gte": 0})
    return models.CheckConstraint(condition=condition, name=f"run_{field}_not_negative")


class Run(models.Model):
    """A run of one task in one configuration. Measured fields are written once, at ingest."""

    Status = ReviewStatus

    class Word(models.TextChoices):
        SERVER = "server", "scored by the server"
        SUBMITTER = "submitter", "the submitter's word"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="runs")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bench_runs")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="runs", null=True, blank=True)
    index = models.PositiveIntegerField(help_text="Position in the bundle.")
    identity = models.CharField(max_length=64, help_text="sha256 of the measured fields.")
    # sha256 of the trace, or of the measured totals where there is none: a replay under a new label shares it
    fingerprint = models.CharField(max_length=64, null=True, blank=True, db_index=True)
    status = models.CharField(max_length=16, choices=ReviewStatus, default=ReviewStatus.PENDING)
    received_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)

    methodology = models.CharField(max_length=16)
    suite = models.CharField(max_length=32)
    is_simulated = models.BooleanField("simulated", default=False)
    is_canary = models.BooleanField("canary", default=False)
    measured_at = models.DateTimeField(null=True, blank=True)
    config_key = models.CharField("configuration key", max_length=16)
    config = models.JSONField(help_text="The configuration that config_key stands for.")
    task = models.CharField(max_length=64, null=True, blank=True)
    model = models.CharField(max_length=120)
    quantization = models.CharField(max_length=120, null=True, blank=True)
    engine = models.CharField(max_length=120)
    gpu_class = models.CharField("GPU class", max_length=120, null=True, blank=True)
    item_set = models.CharField(max_length=160, default="", help_text="Equal set and index: the same question.")

    tier = models.CharField(max_length=1, null=True, blank=True)
    tier_claimed = models.CharField(max_length=1, null=True, blank=True)
    correctness_word = models.CharField(max_length=16, choices=Word, default=Word.SUBMITTER)
    energy_j = models.FloatField(null=True, blank=True)
    joules_per_correct_answer = models.FloatField(null=True, blank=True)
    joules_per_token = models.FloatField(null=True, blank=True)
    n_items = models.PositiveIntegerField(null=True, blank=True)
    n_correct = models.PositiveIntegerField(null=True, blank=True)
    figures = models.JSONField(help_text="Everything the server derived, by wire name.")
    claimed = models.JSONField(default=dict, help_text="What the submitter claimed, by wire name.")
    facts = models.JSONField(default=dict, help_text="The run as sent, without items, trace and claimed figures.")
    gates = models.JSONField(default=list)
    flags = models.JSONField(default=list)

    class Meta:
        ordering = ["-received_at", "index", "pk"]
        permissions = [("moderate_run", "Can publish, hide, withdraw and reinstate runs")]
        constraints = [
            models.UniqueConstraint(fields=["account", "identity"], name="run_unique_per_account"),
            _never_negative("energy_j"),
            _never_negative("joules_per_correct_answer"),
            _never_negative("joules_per_token"),
            models.CheckConstraint(
                condition=Q(n_correct__isnull=True) | Q(n_items__isnull=True) | Q(n_correct__lte=models.F("n_items")),
                name="run_n_correct_within_n_items",
            ),
        ]
        indexes = [
            models.Index(fields=["config_key", "status", "task"], name="run_of_configuration"),
            models.Index(fields=["status", "received_at"], name="run_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.model}, {self.task or 'no task'}, {self.gpu_class or 'unknown device'}"


class RunMark(models.Model):
    """A mark of a run's recording; a replay shares several, also one that was cut, scaled or blurred."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="marks")
    mark = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"mark of {self.run_id}"


class RunColumns(models.Model):
    """The long tables of a version-3 run, apart so that lists never load them."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="columns")
    items_packed = models.BinaryField()
    trace_packed = models.BinaryField()

    class Meta:
        verbose_name_plural = "run columns"

    def __str__(self) -> str:
        return f"columns of {self.run_id}"

    def items(self) -> dict[str, Any]:
        """Items by column, `correct` as the server counts it and `energy_j` beside it."""
        return unpack_columns(self.items_packed)

    def trace(self) -> dict[str, Any]:
        """The recorded samples by column, as sent."""
        return unpack_columns(self.trace_packed)
