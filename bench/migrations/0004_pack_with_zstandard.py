import json
import zlib

import numpy as np
from backports import zstd
from django.db import migrations

from bench.packing import pack_columns


def repack(apps, schema_editor):
    for submission in apps.get_model("bench", "Submission").objects.only("bundle_packed").iterator(chunk_size=50):
        submission.bundle_packed = zstd.compress(zlib.decompress(submission.bundle_packed), 1)
        submission.save(update_fields=["bundle_packed"])
    for columns in apps.get_model("bench", "RunColumns").objects.iterator(chunk_size=50):
        trace = json.loads(zlib.decompress(columns.trace_packed))
        arrays = {n: np.asarray(c, dtype=np.float64) if isinstance(c, list) else c for n, c in trace.items()}
        columns.trace_packed = pack_columns(arrays)
        columns.items_packed = pack_columns(json.loads(zlib.decompress(columns.items_packed)))
        columns.save(update_fields=["items_packed", "trace_packed"])


class Migration(migrations.Migration):
    dependencies = [("bench", "0003_rename_packed_columns")]

    operations = [migrations.RunPython(repack, migrations.RunPython.noop)]
