"""Names that the maintainers know, and what else they are called."""

from django.db import models
from simple_history.models import HistoricalRecords


class Alias(models.Model):
    """`raw` as controllers send it, `name` as the board shows it. A name that stands in no row here
    is free text of a stranger and never reaches a spreadsheet or a language model."""

    class Kind(models.TextChoices):
        MODEL = "model", "model"
        GPU = "gpu", "GPU class"
        ENGINE = "engine", "engine"

    kind = models.CharField(max_length=8, choices=Kind)
    raw = models.CharField(max_length=120)
    name = models.CharField(max_length=120)
    history = HistoricalRecords()

    class Meta:
        ordering = ["kind", "name", "raw"]
        verbose_name_plural = "aliases"
        constraints = [models.UniqueConstraint(fields=["kind", "raw"], name="alias_unique")]

    def __str__(self) -> str:
        return f"{self.raw} is {self.name}"
