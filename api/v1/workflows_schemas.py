"""What is said of workflows, and what is answered."""

import json
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.fields import InstantField, StrictBooleanField, StrictCharField, StrictFloatField, StrictIntegerField
from scheduling.models import Workflow

Shape = serializers.Serializer[Any]
REQUEST_BYTES = 64 * 1024
LONGEST_S = 31 * 86400
TIME = "in your own words, in the account's timezone: by 7am, 22:00, tomorrow 18:00, in 4 h, 2026-08-20T09:00"


@extend_schema_field(OpenApiTypes.ANY)
class RequestField(serializers.JSONField):
    """What to ask, for frameworks that are asked; kept as it is and given back, run by nobody here."""

    def to_internal_value(self, data: Any) -> Any:
        if len(json.dumps(data).encode()) > REQUEST_BYTES:
            raise serializers.ValidationError(f"A request has at most {REQUEST_BYTES // 1024} KiB.", "too_large")
        return data


class _Fields(Shape):
    """Fields that are the same when a workflow is made and when it is changed."""

    request = RequestField(required=False, allow_null=True)
    est_duration_s = StrictFloatField(min_value=1, max_value=LONGEST_S, required=False, allow_null=True)
    deadline = StrictCharField(max_length=120, required=False, allow_blank=True, help_text=TIME)
    earliest_start = StrictCharField(max_length=120, required=False, allow_blank=True, help_text=TIME)
    recurrence = serializers.ChoiceField(Workflow.Recurrence.choices, required=False)
    nameplate_watts = StrictFloatField(min_value=0.001, max_value=1e6, required=False, allow_null=True)
    enabled = StrictBooleanField(required=False)
    bench_gpu_class = StrictCharField(max_length=120, required=False, allow_null=True, allow_blank=True)
    bench_model_size_class = StrictCharField(max_length=32, required=False, allow_null=True, allow_blank=True)
    bench_quant = StrictCharField(max_length=120, required=False, allow_null=True, allow_blank=True)
    controller_id = StrictCharField(max_length=120, required=False, allow_null=True)
    interruptible = StrictBooleanField(required=False)
    min_run_s = StrictFloatField(min_value=0, max_value=LONGEST_S, required=False)
    restart_wh = StrictFloatField(min_value=0, max_value=1e6, required=False)
    priority = StrictIntegerField(min_value=-1000, max_value=1000, required=False, help_text="larger goes first")

    def to_internal_value(self, data: Any) -> Any:
        """A null time is an unsaid one; deployed controllers send it so."""
        if isinstance(data, dict):
            data = {k: "" if v is None and k in ("deadline", "earliest_start") else v for k, v in data.items()}
        return super().to_internal_value(data)


class WorkflowInSerializer(_Fields):
    name = StrictCharField(max_length=200)
    framework = serializers.ChoiceField(Workflow.Framework.choices)


class WorkflowChangeSerializer(_Fields):
    name = StrictCharField(max_length=200, required=False)
    framework = serializers.ChoiceField(Workflow.Framework.choices, required=False)


class WindowSerializer(Shape):
    earliest_start = InstantField()
    deadline = InstantField()


class WorkflowSerializer(Shape):
    id = serializers.UUIDField()
    name = serializers.CharField()
    framework = serializers.CharField()
    request = RequestField(allow_null=True)
    est_duration_s = serializers.FloatField(allow_null=True)
    deadline = serializers.CharField(allow_blank=True)
    earliest_start = serializers.CharField(allow_blank=True)
    recurrence = serializers.CharField()
    nameplate_watts = serializers.FloatField(allow_null=True)
    enabled = serializers.BooleanField()
    bench_gpu_class = serializers.CharField(allow_null=True)
    bench_model_size_class = serializers.CharField(allow_null=True)
    bench_quant = serializers.CharField(allow_null=True)
    controller_id = serializers.CharField(allow_null=True)
    interruptible = serializers.BooleanField()
    min_run_s = serializers.FloatField()
    restart_wh = serializers.FloatField()
    priority = serializers.IntegerField()
    created_at = InstantField()
    updated_at = InstantField()
    next_window = WindowSerializer(allow_null=True, help_text="the next time that has not begun")
