"""What the answers about schedules look like."""

from typing import Any

from rest_framework import serializers

from api.fields import InstantField, StrictCharField, StrictFloatField, StrictIntegerField

Shape = serializers.Serializer[Any]
OCCURRENCE = "one time that the workflow has to be done; the same in every version"


class PieceSerializer(Shape):
    start = InstantField()
    end = InstantField()


class PlacementSerializer(Shape):
    """Where one occurrence stands. `feasible: false` comes with the reason and without a time."""

    workflow_id = serializers.UUIDField()
    start = InstantField(allow_null=True)
    end = InstantField(allow_null=True, help_text="start and the time kept free; the run is ended then")
    predicted_wh = serializers.FloatField(allow_null=True)
    feasible = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)
    occurrence_id = serializers.UUIDField(help_text=OCCURRENCE)
    attempt = serializers.IntegerField()
    deadline = InstantField()
    latest_start = InstantField(allow_null=True, help_text="the last start that meets the deadline")
    pieces = serializers.ListField(child=PieceSerializer(), help_text="one, or several of an interruptible run")
    machine = serializers.CharField(help_text="the controller's id, or shared")
    smallest_change = serializers.CharField(allow_null=True, help_text="what would make it fit")
    cap_w = serializers.FloatField(allow_null=True, help_text="power cap in W, chosen together with the start")
    cost = serializers.FloatField(allow_null=True)
    prediction_method = serializers.ChoiceField(["history", "bench_prior", "nameplate"], allow_null=True)


class PriceSerializer(Shape):
    start = InstantField()
    end = InstantField()
    spot_per_kwh = serializers.DecimalField(18, 9, help_text="on the market")
    price_per_kwh = serializers.DecimalField(18, 9, help_text="as paid")
    is_forecast = serializers.BooleanField()


class SnapshotSerializer(Shape):
    """The prices that the plan was made with, and the formula that makes of the spot price what is paid."""

    market = serializers.CharField()
    currency = serializers.CharField()
    known_until = InstantField()
    formula = serializers.DictField()
    prices = PriceSerializer(many=True)


class ScheduleSerializer(Shape):
    id = serializers.UUIDField()
    version = serializers.IntegerField()
    valid_until = InstantField(help_text="past it, run what is due at its latest start")
    placements = PlacementSerializer(many=True)
    forecast_snapshot = SnapshotSerializer()
    fallback_policy = serializers.ChoiceField(["deadline_latest_start"])
    degraded = serializers.BooleanField(help_text="made with forecast or stale prices")
    price_coverage = serializers.FloatField(help_text="share of the planned time whose price is published")
    currency = serializers.CharField()
    cost = serializers.FloatField()
    lower_bound = serializers.FloatField(help_text="no plan of these jobs costs less; see the certificate")
    created_at = InstantField()


class AckSerializer(Shape):
    schedule_version = StrictIntegerField(min_value=0, max_value=2**31 - 1)
    event = serializers.ChoiceField(["started", "finished", "failed"])
    workflow_id = StrictCharField(max_length=64)
    at = InstantField(required=False, allow_null=True)
    occurrence_id = StrictCharField(max_length=64, required=False, allow_null=True)
    controller_id = StrictCharField(max_length=120, required=False, allow_null=True)


class AckReceiptSerializer(Shape):
    status = serializers.CharField(help_text="ok")
    event = serializers.CharField()
    schedule_version = serializers.IntegerField()
    workflow_id = serializers.CharField()
    replanned = serializers.BooleanField(help_text="a new version was made for what is left")


class AdviseSerializer(Shape):
    est_duration_s = StrictFloatField(min_value=1, max_value=31 * 86400)
    deadline = StrictCharField(max_length=120, help_text="by 7am, 22:00, tomorrow 18:00, 2026-08-20T09:00")
    earliest_start = StrictCharField(max_length=120, required=False, allow_null=True, allow_blank=True)
    nameplate_watts = StrictFloatField(min_value=0.001, max_value=1e6, required=False, allow_null=True)
    framework = StrictCharField(max_length=40, required=False, allow_null=True)
    fingerprint = StrictCharField(max_length=200, required=False, allow_null=True)


class AdviceSerializer(Shape):
    start = InstantField(allow_null=True)
    end = InstantField(allow_null=True)
    grid_cost = serializers.FloatField(allow_null=True)
    now_cost = serializers.FloatField(allow_null=True, help_text="begun at once")
    savings = serializers.FloatField(allow_null=True)
    predicted_wh = serializers.FloatField()
    feasible = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)
    prediction_method = serializers.ChoiceField(["history", "bench_prior", "nameplate"])
    degraded = serializers.BooleanField()
    currency = serializers.CharField()
    smallest_change = serializers.CharField(allow_null=True)


class MachineRowSerializer(Shape):
    capacity = serializers.IntegerField()
    lambda_per_h = serializers.ListField(child=serializers.FloatField())


class WattRowSerializer(Shape):
    limit_w = serializers.FloatField()
    lambda_per_kwh = serializers.ListField(child=serializers.FloatField())


class CertificateSerializer(Shape):
    """A proof that no plan of the same jobs costs less than `lower_bound`; times are seconds from `t0`."""

    version = serializers.IntegerField(help_text="of this format")
    schedule_version = serializers.IntegerField()
    planned_as_version = serializers.IntegerField(help_text="the version that this plan was first published as")
    currency = serializers.CharField()
    t0 = serializers.CharField()
    edges_s = serializers.ListField(child=serializers.FloatField())
    price_per_kwh = serializers.ListField(child=serializers.FloatField())
    unpriced = serializers.ListField(child=serializers.IntegerField(), help_text="segments without a price")
    prices_sha256 = serializers.CharField()
    machine_rows = serializers.DictField(child=MachineRowSerializer())
    watt_row = WattRowSerializer(allow_null=True)
    jobs = serializers.ListField(child=serializers.DictField())
    placements = serializers.ListField(child=serializers.DictField())
    cost = serializers.FloatField()
    lower_bound = serializers.FloatField()
    carried_cost = serializers.FloatField(help_text="of what ran before the prices that are known")
    solver = serializers.CharField()
    solver_version = serializers.CharField()
    formula = serializers.DictField()
