"""What is said of an account's scheduling, and what is answered."""

from typing import Any

from rest_framework import serializers

from api.fields import InstantField, StrictBooleanField, StrictCharField, StrictFloatField, StrictIntegerField
from scheduling.models import NOTICES

Shape = serializers.Serializer[Any]
WEBHOOK = "https on port 443; empty: notices go by e-mail"
PERIOD = 'rows such as {"days": "mon-fri", "from": "22:00", "to": "06:00", "price": "0.05"}'


def _fee(help_text: str) -> serializers.DecimalField:
    return serializers.DecimalField(12, 9, required=False, help_text=help_text)


class TariffSerializer(Shape):
    """(spot + supplier_fee + grid fee + levies) x (1 + vat), in the market's currency per kWh before VAT."""

    supplier_fee = _fee("of the supplier")
    levies = _fee("taxes and levies per kWh")
    grid_fee = _fee("of the grid, outside of grid_periods")
    grid_periods = serializers.ListField(child=serializers.DictField(), required=False, help_text=PERIOD)
    vat = serializers.DecimalField(6, 5, min_value=0, max_value=1, required=False, help_text="0.19 is 19 %")


class NoticesSerializer(Shape):
    def get_fields(self) -> dict[str, Any]:
        return {name: StrictBooleanField(required=False) for name in NOTICES}


class AccountChangeSerializer(Shape):
    timezone = StrictCharField(max_length=64, required=False)
    market = StrictCharField(max_length=50, required=False, allow_null=True, help_text="null: the default")
    currency = StrictCharField(max_length=3, required=False, help_text="has to be the market's")
    tariff = TariffSerializer(required=False)
    watt_limit = StrictFloatField(min_value=1, max_value=1e6, required=False, allow_null=True, help_text="W, all boxes")
    notices = NoticesSerializer(required=False)
    webhook_url = StrictCharField(max_length=500, required=False, allow_blank=True, help_text=WEBHOOK)
    paused = StrictBooleanField(required=False)


class AccountSerializer(Shape):
    timezone = serializers.CharField()
    market = serializers.CharField()
    market_name = serializers.CharField()
    currency = serializers.CharField()
    tariff = TariffSerializer()
    watt_limit = serializers.FloatField(allow_null=True)
    notices = NoticesSerializer()
    webhook_url = serializers.CharField(allow_blank=True, help_text=WEBHOOK)
    paused = serializers.BooleanField()
    paused_at = InstantField(allow_null=True)


class MarketSerializer(Shape):
    slug = serializers.CharField()
    name = serializers.CharField()
    currency = serializers.CharField()
    timezone = serializers.CharField(allow_blank=True, help_text="of the delivery zone; empty: the account's own")
    is_fixed = serializers.BooleanField(help_text="a fixed tariff by weekday and time")
    after_the_fact = serializers.BooleanField(help_text="prices are known only afterwards")
    is_default = serializers.BooleanField()


class MonthSerializer(Shape):
    month = serializers.DateField()
    currency = serializers.CharField()
    runs = serializers.IntegerField()
    predicted_runs = serializers.IntegerField(help_text="without measured energy")
    unsettled_runs = serializers.IntegerField(help_text="left out of the money: a price is not published")
    energy_wh = serializers.FloatField(help_text="measured")
    predicted_wh = serializers.FloatField()
    cost = serializers.FloatField()
    earliest_cost = serializers.FloatField()
    random_cost = serializers.FloatField()
    saved_against_earliest = serializers.FloatField()
    saved_against_random = serializers.FloatField()


class ControllerSerializer(Shape):
    controller_id = serializers.CharField()
    first_contact_at = InstantField()
    last_contact_at = InstantField()
    last_version = serializers.IntegerField(allow_null=True, help_text="of the schedule it has")
    capacity = serializers.IntegerField(help_text="jobs at once")


class ControllerChangeSerializer(Shape):
    capacity = StrictIntegerField(min_value=1, max_value=100)
