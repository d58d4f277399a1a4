from django.db import migrations

DAY_AND_NIGHT = [
    {"days": "all", "from": "06:00", "to": "22:00", "price": "0.32"},
    {"days": "all", "from": "22:00", "to": "06:00", "price": "0.22"},
]


def create(apps, schema_editor):
    """The market of accounts that have chosen none; it needs no network and holds by their own clock."""
    apps.get_model("scheduling", "Market").objects.create(
        slug="day-and-night",
        name="Day and night tariff (an example: choose your market)",
        currency="EUR",
        periods=DAY_AND_NIGHT,
        is_default=True,
    )


class Migration(migrations.Migration):
    dependencies = [("scheduling", "0001_scheduling")]
    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
