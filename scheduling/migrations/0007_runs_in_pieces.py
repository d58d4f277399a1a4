from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0006_notices"),
    ]

    operations = [
        migrations.AddField(
            model_name="runrecord",
            name="piece_of_attempt",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="of its occurrence; empty: no piece, a run by itself", null=True
            ),
        ),
    ]
