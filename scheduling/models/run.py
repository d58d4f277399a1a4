"""What ran, what it drew, and what that saved."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from asyncenergy import clock
from scheduling.models.schedule import Placement
from scheduling.models.workflow import Occurrence, Workflow


def _not_negative(field: str) -> models.CheckConstraint:
    condition = Q(**{f"{field}__isnull": True}) | Q(**{f"{field}__gte": 0})
    return models.CheckConstraint(condition=condition, name=f"runrecord_{field}_not_negative")


class RunRecord(models.Model):
    """One run as its controller reported it. A null energy was not measured, and is never 0."""

    class Exit(models.TextChoices):
        SUCCESS = "success", "success"
        ERROR = "error", "error"
        PREEMPTED = "preempted", "preempted"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="run_records")
    controller_id = models.CharField(max_length=120)
    run_id = models.CharField(max_length=120)
    workflow = models.ForeignKey(Workflow, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs")
    occurrence = models.ForeignKey(Occurrence, on_delete=models.SET_NULL, null=True, blank=True, related_name="runs")
    fingerprint = models.CharField(max_length=200, null=True, blank=True)
    framework = models.CharField(max_length=40, null=True, blank=True)
    exit_status = models.CharField(max_length=10, choices=Exit, null=True, blank=True)
    work_units = models.FloatField(null=True, blank=True)
    work_unit_kind = models.CharField(max_length=40, null=True, blank=True)
    scheduled_start = models.DateTimeField(null=True, blank=True)
    actual_start = models.DateTimeField(null=True, blank=True)
    ts = models.DateTimeField()
    duration_s = models.FloatField(null=True, blank=True)
    energy_wh = models.FloatField(null=True, blank=True)
    energy_source = models.CharField(max_length=16, null=True, blank=True)
    avg_w = models.FloatField(null=True, blank=True)
    peak_w = models.FloatField(null=True, blank=True)
    gpu_mem_mb = models.FloatField(null=True, blank=True)
    schedule_version = models.PositiveIntegerField(null=True, blank=True)
    cap_w = models.FloatField(null=True, blank=True, help_text="power cap that its placement chose")
    piece_of_attempt = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="of its occurrence; empty: no piece, a run by itself"
    )
    warnings = models.JSONField(default=list)
    received_at = models.DateTimeField(default=clock.now)
    rollup_due = models.BooleanField(default=False, db_index=True)

    class Meta:
        ordering = ["-ts", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["account", "controller_id", "run_id"], name="runrecord_unique"),
            *(_not_negative(field) for field in ("duration_s", "energy_wh", "avg_w", "peak_w", "gpu_mem_mb")),
        ]
        indexes = [
            models.Index(fields=["account", "-ts"], name="runrecord_newest"),
            models.Index(fields=["workflow", "-ts"], name="runrecord_of_workflow"),
            models.Index(fields=["account", "fingerprint", "-ts"], name="runrecord_of_fingerprint"),
            models.Index(fields=["received_at"], condition=models.Q(exit_status="error"), name="runrecord_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} on {self.controller_id}"


class SampleBatch(models.Model):
    """Samples of a run as they came, in columns."""

    run = models.ForeignKey(RunRecord, on_delete=models.CASCADE, related_name="batches")
    first_ts = models.DateTimeField()
    last_ts = models.DateTimeField()
    count = models.PositiveIntegerField()
    columns_zlib = models.BinaryField()

    class Meta:
        ordering = ["first_ts", "pk"]
        verbose_name_plural = "sample batches"
        indexes = [models.Index(fields=["run", "last_ts"], name="samplebatch_by_end")]

    def __str__(self) -> str:
        return f"{self.count} samples of {self.run_id}"


class PowerProfile(models.Model):
    """What the server derived from a run's samples."""

    run = models.OneToOneField(RunRecord, on_delete=models.CASCADE, primary_key=True, related_name="profile")
    bucket_s = models.FloatField()
    wh = models.JSONField(help_text="Wh of each bucket from the run's start; null where nothing was sampled")
    p95_w = models.FloatField(null=True, blank=True)
    throttled_s = models.FloatField(null=True, blank=True)
    cpu_wh = models.FloatField(null=True, blank=True)
    sampled_wh = models.FloatField(null=True, blank=True, help_text="integrated over the samples")
    n_samples = models.PositiveIntegerField()
    updated_at = models.DateTimeField(default=clock.now)

    def __str__(self) -> str:
        return f"profile of {self.run_id}"


class SavingsEntry(models.Model):
    """What one run cost, all its pieces together, and what it would have cost otherwise. Losses are kept as they are.

    Both baselines are the frozen alternatives of the first plan, for the energy that the run really took. Figures that
    need a price that is not known yet are null, with the reason.
    """

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="savings")
    run = models.OneToOneField(RunRecord, on_delete=models.CASCADE, related_name="savings")
    occurrence = models.ForeignKey(Occurrence, on_delete=models.CASCADE, related_name="savings")
    placement = models.ForeignKey(Placement, on_delete=models.SET_NULL, null=True, related_name="+")
    on = models.DateField(help_text="local date of the start")
    currency = models.CharField(max_length=3)
    predicted_wh = models.FloatField()
    energy_wh = models.FloatField(help_text="measured, or predicted where nothing was measured")
    is_measured = models.BooleanField()
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    earliest_cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    random_cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    reason = models.CharField(max_length=200, blank=True, default="", help_text="why a figure is missing")
    tried_at = models.DateTimeField(null=True, blank=True, help_text="when its money was last found not to be known")
    settled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-on", "-pk"]
        verbose_name_plural = "savings entries"
        indexes = [models.Index(fields=["settled_at"], name="savings_unsettled")]

    def __str__(self) -> str:
        return f"savings of {self.run_id}"
