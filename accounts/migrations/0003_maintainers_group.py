from django.db import migrations


def create_group(apps, schema_editor):
    apps.get_model("auth", "Group").objects.get_or_create(name="maintainers")


class Migration(migrations.Migration):
    """The group of the moderators; the app that they moderate grants its permissions."""

    dependencies = [("accounts", "0002_logins_and_keys"), ("auth", "0012_alter_user_first_name_max_length")]
    operations = [migrations.RunPython(create_group, migrations.RunPython.noop)]
