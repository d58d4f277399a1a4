"""The public board as it is read: rows made by the worker, never by a reader."""

from django.db import models


class BoardRow(models.Model):
    """One configuration on one task, pooled over machines."""

    config_key = models.CharField(max_length=16)
    task = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    quantization = models.CharField(max_length=120, null=True)
    engine = models.CharField(max_length=120)
    gpu_class = models.CharField(max_length=120, null=True)
    tier = models.CharField(max_length=1, null=True)
    verified = models.BooleanField()
    rank = models.PositiveIntegerField(null=True)
    place = models.FloatField(null=True, help_text="Sort value: claimed rows stand below verified ones of equal rank.")
    joules_per_correct_answer = models.FloatField(null=True)
    joules_per_token = models.FloatField(null=True)
    joules_per_item = models.FloatField(null=True)
    accuracy = models.FloatField(null=True)
    pooled_tokens_per_second = models.FloatField(null=True)
    ttft_p50_s = models.FloatField(null=True)
    n_items = models.PositiveIntegerField(null=True)
    n_runs = models.PositiveIntegerField()
    n_nodes = models.PositiveIntegerField()
    updated_at = models.DateTimeField()
    payload = models.JSONField(help_text="The row as every reader gets it.")

    class Meta:
        ordering = ["task", "config_key"]
        constraints = [models.UniqueConstraint(fields=["config_key", "task"], name="boardrow_unique")]

    def __str__(self) -> str:
        return f"{self.model} on {self.task}"


class DirtyMark(models.Model):
    """A row of the board that a decision has made stale. One mark per decision: a mark set while
    the worker rebuilds outlives that rebuild."""

    config_key = models.CharField(max_length=16)
    task = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.config_key} on {self.task}"


class BoardState(models.Model):
    """One row: the version of the published data."""

    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"version {self.version}"
