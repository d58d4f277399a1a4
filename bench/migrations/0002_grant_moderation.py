from django.db import migrations

VIEWED = ("submission", "run", "decision", "node", "alias", "boardrow")
ALIAS = ("add_alias", "change_alias")


def grant(apps, schema_editor):
    """Permissions come with the signal after migrating, which is too late here: make those that are granted."""
    Permission = apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="maintainers")
    wanted = [(model, f"view_{model}", f"Can view {model}") for model in VIEWED]
    wanted += [("alias", name, f"Can {name.replace('_', ' ')}") for name in ALIAS]
    wanted += [("run", "moderate_run", "Can publish, hide, withdraw and reinstate runs")]
    for model, codename, name in wanted:
        kind, _ = ContentType.objects.get_or_create(app_label="bench", model=model)
        permission, _ = Permission.objects.get_or_create(
            content_type=kind, codename=codename, defaults={"name": name}
        )
        group.permissions.add(permission)


class Migration(migrations.Migration):
    """Maintainers see the queue and decide; no measured field is theirs to change."""

    dependencies = [
        ("bench", "0001_corpus"),
        ("accounts", "0003_maintainers_group"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
