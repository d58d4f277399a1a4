from django.db import migrations


def grant(apps, schema_editor):
    """Maintainers see who submits. Permissions come with the signal after migrating, which is too late here."""
    Permission = apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="maintainers")
    kind, _ = ContentType.objects.get_or_create(app_label="bench", model="submitteraccount")
    permission, _ = Permission.objects.get_or_create(
        content_type=kind, codename="view_submitteraccount", defaults={"name": "Can view submitter"}
    )
    group.permissions.add(permission)


class Migration(migrations.Migration):
    dependencies = [("bench", "0008_submitters")]

    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
