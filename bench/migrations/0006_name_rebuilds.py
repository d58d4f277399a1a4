from django.db import migrations, models


def forget_answers(apps, schema_editor):
    """The next rebuild makes them again."""
    apps.get_model("bench", "StoredAnswer").objects.all().delete()


class Migration(migrations.Migration):
    dependencies = [("bench", "0005_aggregates")]

    operations = [
        migrations.AddField("boardstate", "token", models.CharField(default="", max_length=32)),
        migrations.RunPython(forget_answers, migrations.RunPython.noop),
        migrations.RemoveField("storedanswer", "version"),
        migrations.AddField(
            "storedanswer",
            "token",
            models.CharField(help_text="of the rebuild that it was made after", max_length=32, default=""),
            preserve_default=False,
        ),
    ]
