from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("scheduling", "0010_silences_so_far"),
    ]

    operations = [
        migrations.RemoveField(model_name="occurrence", name="finished_s"),
    ]
