from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0007_runs_in_pieces"),
    ]

    operations = [
        migrations.AddField(
            model_name="savingsentry",
            name="tried_at",
            field=models.DateTimeField(
                blank=True, help_text="when its money was last found not to be known", null=True
            ),
        ),
    ]
