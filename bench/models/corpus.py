"""Downloads of the whole corpus, one for a version of the board."""

from django.db import models


class CorpusRelease(models.Model):
    """Files that lie ready; each with its size and checksum."""

    version = models.PositiveIntegerField(primary_key=True, help_text="data version of the board")
    made_at = models.DateTimeField()
    n_runs = models.PositiveIntegerField()
    files = models.JSONField(help_text="name, bytes, sha256 and media type of each")

    class Meta:
        ordering = ["-version"]

    def __str__(self) -> str:
        return f"corpus {self.version}"
