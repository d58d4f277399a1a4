from bench.derivation import sent_runs
from bench.packing import unpack
from django.db import migrations
from pydantic_core import from_json


def rehash(apps, schema_editor):
    """Columns stand in an identity by the hash of their doubles now; a bundle sent again must still be known."""
    Run = apps.get_model("bench", "Run")
    for submission in apps.get_model("bench", "Submission").objects.only("bundle_packed").iterator(chunk_size=20):
        if not submission.bundle_packed:
            continue
        identities = {sent.index: sent.identity for sent in sent_runs(from_json(unpack(submission.bundle_packed)))}
        for run in Run.objects.filter(submission_id=submission.pk).only("index", "identity"):
            if run.identity != identities[run.index]:
                run.identity = identities[run.index]
                run.save(update_fields=["identity"])


class Migration(migrations.Migration):
    dependencies = [("bench", "0011_board_shape")]

    operations = [migrations.RunPython(rehash, migrations.RunPython.noop)]
