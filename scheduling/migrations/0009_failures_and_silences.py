from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0008_when_savings_were_tried"),
    ]

    operations = [
        migrations.AddField(
            model_name="occurrence",
            name="failures",
            field=models.PositiveSmallIntegerField(default=0, help_text="attempts that were reported as failed"),
        ),
        migrations.AddField(
            model_name="occurrence",
            name="silent_since",
            field=models.DateTimeField(
                blank=True, help_text="end of the first place that passed without a word", null=True
            ),
        ),
        migrations.AddIndex(
            model_name="occurrence",
            index=models.Index(fields=["silent_since"], name="occurrence_silent"),
        ),
    ]
