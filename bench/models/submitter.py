"""What maintainers decided about an account that submits; most accounts have no row here."""

from django.conf import settings
from django.db import models
from simple_history.models import HistoricalRecords

from accounts.models import User


class Submitter(models.Model):
    """`counts_as` another account: both are one person, and count once. Nothing is moved, so it can be undone."""

    account = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="submitter"
    )
    counts_as = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="counted_with"
    )
    banned_at = models.DateTimeField(null=True, blank=True)
    note = models.TextField(blank=True, default="", help_text="The submitter reads it.")
    history = HistoricalRecords()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(counts_as__isnull=True) | ~models.Q(counts_as=models.F("account")),
                name="submitter_not_merged_into_itself",
            )
        ]

    def __str__(self) -> str:
        return f"submitter {self.account_id}"


class SubmitterAccount(User):
    """The accounts that have submitted, as the desk lists them."""

    class Meta:
        proxy = True
        verbose_name = "submitter"
