"""What scheduling knows of an account."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from asyncenergy import clock
from scheduling.models.market import Market

NOTICES = ("failed_runs", "unmatched_workflows", "quiet_controllers")


class SchedulingAccount(models.Model):
    """Choices of an account; one without a row has made none."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="scheduling"
    )
    market = models.ForeignKey(Market, on_delete=models.PROTECT, null=True, blank=True, help_text="empty: the default")
    watt_limit = models.FloatField(null=True, blank=True, help_text="W over all controllers")
    paused_at = models.DateTimeField(null=True, blank=True)
    notices = models.JSONField(default=dict, help_text="which notices are wanted; none unless said so")
    notices_since = models.DateTimeField(null=True, blank=True, help_text="what happened before is not told")
    webhook_url = models.CharField(max_length=500, blank=True, default="", help_text="empty: notices go by e-mail")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(watt_limit__isnull=True) | Q(watt_limit__gt=0), name="account_watt_limit_positive"
            )
        ]

    def __str__(self) -> str:
        return f"scheduling of {self.user_id}"


class Tariff(models.Model):
    """The formula (spot + supplier fee + grid fee + levies) x (1 + VAT) of an account, per kWh before VAT."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, primary_key=True, related_name="tariff"
    )
    supplier_fee = models.DecimalField(max_digits=12, decimal_places=9, default=0)
    levies = models.DecimalField(max_digits=12, decimal_places=9, default=0)
    grid_fee = models.DecimalField(max_digits=12, decimal_places=9, default=0, help_text="outside of the periods")
    grid_periods = models.JSONField(default=list, blank=True, help_text="like the periods of a market")
    vat = models.DecimalField(max_digits=6, decimal_places=5, default=0, help_text="a share: 0.19 is 19 %")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(vat__gte=0, vat__lte=1), name="tariff_vat_is_a_share")]

    def __str__(self) -> str:
        return f"tariff of {self.user_id}"


class Controller(models.Model):
    """A box that polls for its schedule and says who it is."""

    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="controllers")
    controller_id = models.CharField(max_length=120)
    first_contact_at = models.DateTimeField(default=clock.now)
    last_contact_at = models.DateTimeField(default=clock.now)
    last_version = models.PositiveIntegerField(null=True, blank=True, help_text="of the schedule it was last given")
    capacity = models.PositiveSmallIntegerField(default=1, help_text="jobs at once")

    class Meta:
        ordering = ["controller_id", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["account", "controller_id"], name="controller_unique_per_account"),
            models.CheckConstraint(condition=Q(capacity__gte=1), name="controller_runs_something"),
        ]

    def __str__(self) -> str:
        return self.controller_id
