"""Serializer fields that keep JSON's types apart: "12" and true are no numbers."""

import math
from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers


class StrictCharField(serializers.CharField):
    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class StrictIntegerField(serializers.IntegerField):
    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictFloatField(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if not isinstance(data, (int, float)) or isinstance(data, bool) or not math.isfinite(data):
            self.fail("invalid")
        return float(data)


class StrictBooleanField(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class InstantField(serializers.DateTimeField):
    """An instant: ISO 8601 with an offset on the way in, UTC in whole seconds on the way out."""

    default_error_messages = {
        "no_instant": "Write the time as ISO 8601 with an offset, such as 2026-08-20T09:00:00+02:00."
    }

    def to_internal_value(self, value: Any) -> datetime:
        try:
            instant = datetime.fromisoformat(value)
            if instant.tzinfo is None:
                self.fail("no_instant")
            return instant.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            self.fail("no_instant")

    def to_representation(self, value: datetime) -> str:
        return value.astimezone(UTC).isoformat(timespec="seconds")
