from typing import Any

from django.db import migrations
from django.db.models import F


def note(apps: Any, schema_editor: Any) -> None:
    """What passed in silence before this was written down is told after it, too."""
    rows = apps.get_model("scheduling", "Occurrence").objects.filter(started_at=None, planned_end__isnull=False)
    rows.filter(status__in=("unreported", "missed")).update(silent_since=F("planned_end"))


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0009_failures_and_silences"),
    ]

    operations = [
        migrations.RunPython(note, migrations.RunPython.noop),
    ]
