"""What the answers about runs look like."""

from typing import Any

from rest_framework import serializers

from api.fields import InstantField

Shape = serializers.Serializer[Any]


class RunTakenSerializer(Shape):
    run_id = serializers.CharField()
    controller_id = serializers.CharField()
    id = serializers.UUIDField(help_text="the same at every repetition")
    status = serializers.CharField(help_text="inserted or duplicate")
    warnings = serializers.ListField(child=serializers.CharField(), required=False, help_text="stored as null, and why")


class RunReceiptSerializer(Shape):
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    runs = RunTakenSerializer(many=True)


class SamplesReceiptSerializer(Shape):
    accepted = serializers.IntegerField(help_text="newly stored")
    warnings = serializers.ListField(child=serializers.CharField(), required=False)


class ProfileSerializer(Shape):
    bucket_s = serializers.FloatField()
    wh = serializers.ListField(child=serializers.FloatField(allow_null=True), help_text="Wh of each bucket")
    p95_w = serializers.FloatField(allow_null=True)
    throttled_s = serializers.FloatField(allow_null=True)
    cpu_wh = serializers.FloatField(allow_null=True)
    sampled_wh = serializers.FloatField(allow_null=True, help_text="integrated over the samples")
    n_samples = serializers.IntegerField()


class SavingSerializer(Shape):
    """Money of one run. A figure that needs an unpublished price is null."""

    currency = serializers.CharField()
    predicted_wh = serializers.FloatField()
    energy_wh = serializers.FloatField(help_text="measured, or predicted where is_measured is false")
    is_measured = serializers.BooleanField()
    cost = serializers.FloatField(allow_null=True, help_text="at the published prices of the minutes it ran")
    earliest_cost = serializers.FloatField(allow_null=True, help_text="the same energy, begun at once")
    random_cost = serializers.FloatField(allow_null=True, help_text="the same energy, begun at a random moment")
    reason = serializers.CharField(allow_blank=True, help_text="why a figure is missing")


class RunOutSerializer(Shape):
    id = serializers.UUIDField()
    controller_id = serializers.CharField()
    run_id = serializers.CharField()
    workflow_id = serializers.UUIDField(allow_null=True)
    occurrence_id = serializers.UUIDField(allow_null=True)
    fingerprint = serializers.CharField(allow_null=True)
    framework = serializers.CharField(allow_null=True)
    exit_status = serializers.CharField(allow_null=True)
    work_units = serializers.FloatField(allow_null=True)
    work_unit_kind = serializers.CharField(allow_null=True)
    scheduled_start = InstantField(allow_null=True)
    actual_start = InstantField(allow_null=True)
    ts = InstantField()
    duration_s = serializers.FloatField(allow_null=True)
    energy_wh = serializers.FloatField(allow_null=True, help_text="null: not measured")
    energy_source = serializers.CharField(allow_null=True)
    avg_w = serializers.FloatField(allow_null=True)
    peak_w = serializers.FloatField(allow_null=True)
    gpu_mem_mb = serializers.FloatField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())
    profile = ProfileSerializer(allow_null=True)
    savings = SavingSerializer(allow_null=True)
