"""Fills the database of this process's environment, and says how long everything took.

python -m tests.load.fill --bundles 5000 --v3-runs 500
"""

import argparse
import json
import resource
import time

from benchmarks.site import prepare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundles", type=int, required=True)
    parser.add_argument("--v3-runs", type=int, default=0)
    parser.add_argument("--rebuild-only", action="store_true", help="make nothing, rebuild what is there")
    options = parser.parse_args()
    prepare()

    from bench.services import board_rebuild
    from tests.load.corpus import make_corpus

    found: dict[str, float] = {}
    if not options.rebuild_only:
        made = make_corpus(options.bundles, v3_runs=options.v3_runs)
        found |= {"runs": made.runs, "ingest_s": made.ingest_s, "publish_s": made.publish_s}
    started = time.perf_counter()
    found["configurations"] = board_rebuild(full=True)
    found["rebuild_s"] = time.perf_counter() - started
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({name: round(value, 1) for name, value in found.items()}))


if __name__ == "__main__":
    main()
