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
    machines = models.JSONField(default=list, help_text="What each machine measured; names no reader gets.")

    class Meta:
        ordering = ["task", "config_key"]
        constraints = [models.UniqueConstraint(fields=["config_key", "task"], name="boardrow_unique")]

    def __str__(self) -> str:
        return f"{self.model} on {self.task}"


class BoardConfig(models.Model):
    """One configuration over all its tasks: cost model, load, grades."""

    config_key = models.CharField(max_length=16, primary_key=True)
    config = models.JSONField()
    payload = models.JSONField(help_text="The configuration as every reader gets it.")

    class Meta:
        ordering = ["config_key"]

    def __str__(self) -> str:
        return self.config_key


class BoardSweep(models.Model):
    """Rows that differ in one setting alone, on one machine and task."""

    kind = models.CharField(max_length=16)
    task = models.CharField(max_length=64)
    gpu_class = models.CharField(max_length=120, null=True)
    model = models.CharField(max_length=120)
    payload = models.JSONField(help_text="The sweep as every reader gets it.")

    class Meta:
        ordering = ["kind", "gpu_class", "model", "task", "pk"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.model} on {self.task}"


class StoredAnswer(models.Model):
    """The bytes of a public answer, made by the worker; readers send them as they are."""

    name = models.CharField(max_length=32)
    query = models.CharField(max_length=255, help_text="canonical query string")
    token = models.CharField(max_length=32, help_text="of the rebuild that it was made after")
    body = models.BinaryField()
    page = models.JSONField(null=True, help_text="count, and the query strings of the pages around it")

    class Meta:
        ordering = ["name", "query"]
        constraints = [models.UniqueConstraint(fields=["name", "query"], name="storedanswer_unique")]

    def __str__(self) -> str:
        return f"{self.name}?{self.query}"


class DirtyMark(models.Model):
    """A row of the board that a decision has made stale. One mark per decision: a mark set while
    the worker rebuilds outlives that rebuild."""

    config_key = models.CharField(max_length=16)
    task = models.CharField(max_length=64)

    def __str__(self) -> str:
        return f"{self.config_key} on {self.task}"


class BoardState(models.Model):
    """One row: the version of the published data. `token` names the rebuild itself: after a backup was
    restored, a version may come a second time, a token never. `shape` says which program made the rows: another one
    makes them all anew."""

    version = models.PositiveIntegerField(default=0)
    token = models.CharField(max_length=32, default="")
    shape = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"version {self.version}"
