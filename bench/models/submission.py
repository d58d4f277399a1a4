"""One bundle as it arrived."""

import uuid

from django.conf import settings
from django.db import models

from bench.models.status import ReviewStatus
from bench.packing import unpack


class Submission(models.Model):
    """The immutable bytes of a bundle; its status sums up those of its runs."""

    Status = ReviewStatus

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="bench_submissions")
    sha256 = models.CharField(max_length=64)
    bundle_packed = models.BinaryField()
    bundle_bytes = models.PositiveIntegerField(help_text="Size before compression.")
    schema_version = models.CharField(max_length=8)
    suite = models.CharField(max_length=32, default="quick")
    status = models.CharField(max_length=16, choices=ReviewStatus, default=ReviewStatus.PENDING, db_index=True)
    generated_at = models.DateTimeField(null=True, blank=True)
    received_at = models.DateTimeField(db_index=True)

    class Meta:
        ordering = ["-received_at", "pk"]
        constraints = [models.UniqueConstraint(fields=["account", "sha256"], name="submission_unique_per_account")]

    def __str__(self) -> str:
        return f"submission {str(self.pk)[:8]}"

    def bundle(self) -> bytes:
        """The bundle's bytes exactly as they were sent."""
        return b"" if not self.bundle_packed else unpack(self.bundle_packed)
