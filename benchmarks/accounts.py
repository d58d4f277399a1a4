"""Accounts of three jobs each, planned by two worker processes that find their work by its claims.

    python -m benchmarks.accounts [ACCOUNTS]        the long form has 10,000

On PostgreSQL with BENCHMARK_DATABASE_URL=postgres://…, else on SQLite.
"""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter

from benchmarks.site import fresh_site

ROOT = Path(__file__).resolve().parent.parent
NOW = datetime(2026, 8, 20, 12, tzinfo=UTC)
WORKERS = 2
JOBS = (("evening", 4.0, "by 7am", "20:00"), ("any time", 2.5, "by 8am", "8am"), ("day", 1.0, "by 9pm", "9am"))
WORKER = """
import django; django.setup()
from benchmarks.accounts import work
print(work())
"""


def fill(accounts: int) -> None:
    """Make the accounts, their workflows, and a market with two weeks of quarter-hours."""
    from accounts.models import User
    from scheduling.models import Market
    from scheduling.services import prices_load_csv, workflow_create

    first = NOW - timedelta(days=12, hours=14)
    edges = [first + i * timedelta(minutes=15) for i in range(14 * 96 + 1)]
    rows = [f"{a},{b},{0.2 + 0.01 * (i * 37 % 23):.3f}" for i, (a, b) in enumerate(pairwise(edges))]
    market = Market.objects.get(slug="de-lu")
    prices_load_csv(market=market, raw="\n".join(["start,end,price_per_kwh", *rows]).encode(), now=NOW)
    Market.objects.filter(is_default=True).update(is_default=False)
    Market.objects.filter(pk=market.pk).update(is_default=True)
    users = User.objects.bulk_create(
        User(email=f"account-{i}@example.org", timezone="Europe/Berlin") for i in range(accounts)
    )
    for i, user in enumerate(users):
        for name, hours, deadline, earliest in JOBS:
            workflow_create(
                account=user,
                now=NOW,
                name=name,
                framework="command",
                est_duration_s=hours * 3600 - i % 600,
                nameplate_watts=350.0,
                deadline=deadline,
                earliest_start=earliest,
                recurrence="daily",
            )


def work() -> int:
    """Plan what is due until nothing is; return how many accounts this process planned."""
    from accounts.models import User
    from scheduling.services import account_plan, accounts_due

    planned = 0
    while due := accounts_due(now=NOW):
        for account in User.objects.filter(pk__in=due[:200]).order_by("pk"):
            planned += account_plan(account=account, now=NOW) is not None
    return planned


def planned_by(workers: int) -> tuple[float, list[int]]:
    """Return the seconds that the workers took, and how many accounts each planned."""
    began = perf_counter()
    command = [sys.executable, "-c", WORKER]
    running = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(workers)]
    counts = [int(process.communicate(timeout=7200)[0]) for process in running]
    return perf_counter() - began, counts


def main(accounts: int = 1000) -> None:
    with fresh_site(os.environ.get("BENCHMARK_DATABASE_URL")):
        from scheduling.models import Placement, ScheduleVersion

        began = perf_counter()
        fill(accounts)
        filled_s = perf_counter() - began
        seconds, counts = planned_by(WORKERS)
        used = getrusage(RUSAGE_CHILDREN)
        cpu_s = used.ru_utime + used.ru_stime
        versions = ScheduleVersion.objects.count()
        numbers = set(ScheduleVersion.objects.values_list("number", flat=True))
        placed = Placement.objects.filter(feasible=True).count()
        left_out = Placement.objects.filter(feasible=False).count()
    print(f"{accounts} accounts of {len(JOBS)} workflows made in {filled_s:.0f} s")
    print(f"planned by {WORKERS} processes in {seconds:.1f} s: {accounts / seconds:.0f} accounts/s, shares {counts}")
    print(f"{cpu_s:.0f} s of processor time, {1000 * cpu_s / accounts:.0f} ms an account")
    print(f"{versions} versions, numbers {numbers}: none planned twice; {placed} placed, {left_out} do not fit")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
