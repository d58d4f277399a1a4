"""Small runs of several accounts and machines, through the services."""

import itertools
import json
from typing import Any

from accounts.models import User
from bench import services
from bench.models import Run
from tests.wire.bundles import make_bundle, make_items, make_run, make_trace, make_v2_bundle, make_v2_run

_watts = itertools.count(100.0, 0.001)  # no two recordings are alike, or the second would be a replay


def sent(
    account: User, *, watts: float | None = None, right: int = 6, n: int = 12, suite: str = "run", **changes: Any
) -> Run:
    """A run that waits: 11.9 s of `watts`, `right` of `n` items right."""
    trace = make_trace(n + 4.0, watts=next(_watts) if watts is None else watts)
    run = make_run(**{"items": make_items(n, right=right), "trace": trace, **changes})
    raw = json.dumps(make_bundle(run, suite=suite)).encode()
    return services.submission_ingest(account=account, raw=raw).runs[0].run


def sent_totals(account: User, **changes: Any) -> Run:
    """A waiting run of bundle version 2."""
    bundle = make_v2_bundle(make_v2_run(**changes))
    return services.submission_ingest(account=account, raw=json.dumps(bundle).encode()).runs[0].run


def published(account: User, by: User, **changes: Any) -> Run:
    """A run that stands on the board after the next rebuild."""
    run = sent(account, **changes)
    services.run_publish(run=run, by=by)
    return run
