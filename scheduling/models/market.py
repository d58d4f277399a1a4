"""Markets, where their prices come from, and the prices."""

from django.db import models
from django.db.models import F, Q
from simple_history.models import HistoricalRecords


class Market(models.Model):
    """A delivery zone with prices. `periods` is a fixed tariff by weekday and wall time; other markets have feeds."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=120)
    currency = models.CharField(max_length=3, help_text="ISO 4217, such as EUR")
    timezone = models.CharField(
        max_length=64,
        blank=True,
        default="",
        help_text="of the delivery zone: a day of prices is a day there. A fixed tariff without one holds by the "
        "account's own clock.",
    )
    periods = models.JSONField(
        default=list,
        blank=True,
        help_text='A fixed tariff: rows such as {"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.21"}.',
    )
    after_the_fact = models.BooleanField(default=False, help_text="Prices are known only when they have passed.")
    is_default = models.BooleanField(default=False, help_text="The market of accounts that have chosen none.")
    history = HistoricalRecords()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["is_default"], condition=Q(is_default=True), name="market_one_default"),
            models.CheckConstraint(condition=~Q(timezone="") | ~Q(periods=[]), name="market_has_a_timezone"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_fixed(self) -> bool:
        return bool(self.periods)


class Feed(models.Model):
    """One source of a market's prices, and how asking it went. The first that answers counts."""

    class Kind(models.TextChoices):
        ENERGY_CHARTS = "energy_charts", "Energy-Charts"
        ENTSOE = "entsoe", "ENTSO-E"
        AWATTAR = "awattar", "aWATTar"
        OCTOPUS = "octopus", "Octopus Agile"
        COMED = "comed", "ComEd"

    market = models.ForeignKey(Market, on_delete=models.CASCADE, related_name="feeds")
    position = models.PositiveSmallIntegerField(default=0, help_text="Lower is asked first.")
    source = models.CharField(max_length=16, choices=Kind)
    options = models.JSONField(default=dict, blank=True, help_text='such as {"bzn": "DE-LU"}')
    is_enabled = models.BooleanField(default=True)
    next_attempt_at = models.DateTimeField(null=True, blank=True, help_text="empty: at once")
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)
    backfilled_at = models.DateTimeField(null=True, blank=True)
    failures = models.PositiveIntegerField(default=0, help_text="in a row")
    last_error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        ordering = ["market", "position", "pk"]
        constraints = [models.UniqueConstraint(fields=["market", "position"], name="feed_position_unique")]

    def __str__(self) -> str:
        return f"{self.get_source_display()} for {self.market}"


class PriceDocument(models.Model):
    """One publication as it was taken in, or set aside."""

    class Status(models.TextChoices):
        ACCEPTED = "accepted", "accepted"
        QUARANTINED = "quarantined", "quarantined"
        REFUSED = "refused", "refused"

    market = models.ForeignKey(Market, on_delete=models.CASCADE, related_name="documents")
    source = models.CharField(max_length=16)
    document_id = models.CharField(max_length=200, help_text="with the auction where a source has several")
    fetched_at = models.DateTimeField()
    status = models.CharField(max_length=12, choices=Status)
    reason = models.CharField(max_length=500, blank=True, default="")
    waiting = models.JSONField(default=list, help_text="The prices of a quarantined document, used by nobody.")

    class Meta:
        ordering = ["-fetched_at", "-pk"]
        indexes = [models.Index(fields=["market", "-fetched_at"], name="pricedocument_newest")]

    def __str__(self) -> str:
        return self.document_id


class PricePoint(models.Model):
    """The price of one kWh from `start` to `end` (half-open). A later version supersedes, and never overwrites."""

    market = models.ForeignKey(Market, on_delete=models.CASCADE, related_name="points")
    document = models.ForeignKey(PriceDocument, on_delete=models.CASCADE, related_name="points")
    start = models.DateTimeField()
    end = models.DateTimeField()
    price_per_kwh = models.DecimalField(max_digits=15, decimal_places=9)
    is_forecast = models.BooleanField(default=False)
    version = models.PositiveIntegerField(default=1)
    superseded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["start", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="pricepoint_ends_after_start"),
            models.UniqueConstraint(
                fields=["market", "start", "is_forecast"],
                condition=Q(superseded_at__isnull=True),
                name="pricepoint_one_in_force",
            ),
        ]
        indexes = [models.Index(fields=["market", "end"], name="pricepoint_by_end")]

    def __str__(self) -> str:
        return f"{self.price_per_kwh} from {self.start:%Y-%m-%d %H:%M} UTC"
