"""Plans as they were published. A version is written once and never changed."""

import uuid

from django.conf import settings
from django.db import models

from asyncenergy import clock
from scheduling.models.market import Market
from scheduling.models.workflow import Occurrence, Workflow


class ScheduleVersion(models.Model):
    """All placements of an account at one moment, numbered.

    A version `based_on` another has that one's plan without what has ended since; its proof is that one's, too.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedule_versions")
    number = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=clock.now)
    cause = models.CharField(max_length=32)
    based_on = models.ForeignKey("self", on_delete=models.RESTRICT, null=True, blank=True, related_name="+")
    market = models.ForeignKey(Market, on_delete=models.PROTECT, related_name="+")
    currency = models.CharField(max_length=3)
    valid_until = models.DateTimeField(help_text="the end of known prices")
    degraded = models.BooleanField(help_text="made with forecast or stale prices")
    price_coverage = models.FloatField(help_text="share of the planned time whose price is known")
    cost = models.DecimalField(max_digits=18, decimal_places=9)
    lower_bound = models.DecimalField(max_digits=18, decimal_places=9)
    solver_bound = models.DecimalField(max_digits=18, decimal_places=9)
    baseline_cost = models.DecimalField(max_digits=18, decimal_places=9)
    proved = models.BooleanField()
    time_limited = models.BooleanField()
    snapshot_zlib = models.BinaryField(help_text="the prices and the formula that the plan was made with")
    certificate_zlib = models.BinaryField()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["account", "number"], name="version_number_unique_per_account")]

    def __str__(self) -> str:
        return f"version {self.number}"


class Placement(models.Model):
    """Where one occurrence stands in one version; `start` is null where it does not fit."""

    version = models.ForeignKey(ScheduleVersion, on_delete=models.CASCADE, related_name="placements")
    occurrence = models.ForeignKey(Occurrence, on_delete=models.CASCADE, related_name="placements")
    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="placements")
    attempt = models.PositiveSmallIntegerField()
    start = models.DateTimeField(null=True, blank=True)
    end = models.DateTimeField(null=True, blank=True)
    pieces = models.JSONField(default=list, help_text="[start, end] of each uninterrupted run")
    machine = models.CharField(max_length=120)
    deadline = models.DateTimeField()
    latest_start = models.DateTimeField(null=True, blank=True)
    feasible = models.BooleanField()
    reason = models.CharField(max_length=200, blank=True, default="")
    smallest_change = models.CharField(max_length=120, null=True, blank=True)
    later_min = models.PositiveIntegerField(null=True, blank=True)
    more_watts = models.FloatField(null=True, blank=True)
    proof = models.CharField(max_length=8, null=True, blank=True)
    cap_w = models.FloatField(null=True, blank=True, help_text="power cap chosen together with the start")
    reserved_s = models.FloatField(null=True, blank=True)
    profile = models.JSONField(default=list, help_text="predicted [seconds, watts] steps")
    predicted_wh = models.FloatField(null=True, blank=True)
    prediction_method = models.CharField(max_length=12, null=True, blank=True)
    history_runs = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    earliest_cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    random_cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)

    class Meta:
        ordering = ["start", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["version", "occurrence"], name="placement_once_per_version"),
            models.CheckConstraint(
                condition=models.Q(feasible=False) | models.Q(start__isnull=False, end__isnull=False),
                name="placement_feasible_has_a_time",
            ),
        ]
        indexes = [models.Index(fields=["workflow", "start"], name="placement_by_start")]

    def __str__(self) -> str:
        return f"{self.occurrence_id} in version {self.version_id}"


class Ack(models.Model):
    """What a controller said of a placement: a hint, stored once."""

    class Event(models.TextChoices):
        STARTED = "started", "started"
        FINISHED = "finished", "finished"
        FAILED = "failed", "failed"

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedule_acks")
    schedule_version = models.PositiveIntegerField()
    event = models.CharField(max_length=8, choices=Event)
    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="acks")
    about = models.CharField(max_length=36, default="", help_text="the occurrence, where it is known")
    controller_id = models.CharField(max_length=120, null=True, blank=True)
    at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(default=clock.now)
    replanned = models.BooleanField(default=False)

    class Meta:
        ordering = ["-received_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["account", "schedule_version", "event", "workflow", "about"], name="ack_stored_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} of {self.workflow_id}"
