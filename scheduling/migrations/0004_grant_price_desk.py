from django.db import migrations

GRANTED = {
    "market": ("view", "change", "add"),
    "feed": ("view", "change", "add"),
    "pricedocument": ("view", "change"),
    "pricepoint": ("view",),
}


def grant(apps, schema_editor):
    """Permissions come with the signal after migrating, which is too late here: make those that are granted."""
    Permission = apps.get_model("auth", "Permission")
    ContentType = apps.get_model("contenttypes", "ContentType")
    group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="maintainers")
    for model, verbs in GRANTED.items():
        kind, _ = ContentType.objects.get_or_create(app_label="scheduling", model=model)
        for verb in verbs:
            permission, _ = Permission.objects.get_or_create(
                content_type=kind, codename=f"{verb}_{model}", defaults={"name": f"Can {verb} {model}"}
            )
            group.permissions.add(permission)


class Migration(migrations.Migration):
    """Maintainers look after markets and confirm prices; what accounts schedule is not theirs to see."""

    dependencies = [
        ("scheduling", "0003_markets_with_feeds"),
        ("accounts", "0003_maintainers_group"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]
    operations = [migrations.RunPython(grant, migrations.RunPython.noop)]
