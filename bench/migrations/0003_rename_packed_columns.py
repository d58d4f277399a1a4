from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("bench", "0002_grant_moderation")]

    operations = [
        migrations.RenameField("submission", "bundle_zlib", "bundle_packed"),
        migrations.RenameField("runcolumns", "items_zlib", "items_packed"),
        migrations.RenameField("runcolumns", "trace_zlib", "trace_packed"),
    ]
