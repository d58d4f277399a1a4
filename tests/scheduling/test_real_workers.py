"""Real Celery workers on PostgreSQL and Redis, one of them killed in the middle."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from django.db import connection

from scheduling.models import PlanClaim, ScheduleVersion
from scheduling.services.planning import accounts_due
from tests.people import make_user
from tests.scheduling.people import make_workflow
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[2]
ACCOUNTS = 24
LIMIT_S = 120
pytestmark = [
    pytest.mark.campaign,
    pytest.mark.django_db(transaction=True, serialized_rollback=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="needs PostgreSQL; set TEST_DATABASE_URL"),
    pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server"),
]
NUDGE = "from asyncenergy.celery import app; app.send_task('scheduling.plan_due')"


@contextmanager
def running(command, **options):
    process = subprocess.Popen(command, start_new_session=True, stdin=subprocess.DEVNULL, **options)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)


@pytest.fixture
def redis(tmp_path):
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--dir", str(tmp_path), "--bind", "127.0.0.1"]
    with running(command, stdout=subprocess.DEVNULL):
        yield f"redis://127.0.0.1:{port}/0"


@pytest.fixture
def production(redis, tmp_path):
    """The environment of a production worker on the test's database."""
    to = connection.settings_dict
    return os.environ | {
        "ASYNCENERGY_ENV": "production",
        "SECRET_KEY": secrets.token_urlsafe(50),
        "ALLOWED_HOSTS": "localhost",
        "DATABASE_URL": f"postgres://{to['USER']}:{to['PASSWORD']}@{to['HOST']}:{to['PORT'] or 5432}/{to['NAME']}",
        "REDIS_URL": redis,
        "DJANGO_SETTINGS_MODULE": "asyncenergy.settings",
        "ASYNCENERGY_VAR_DIR": str(tmp_path),
    }


def worker(name, environment):
    options = ["--concurrency", "1", "--hostname", name, "--loglevel", "ERROR", "--without-gossip", "--without-mingle"]
    return running([sys.executable, "-m", "celery", "-A", "asyncenergy", "worker", *options], cwd=ROOT, env=environment)


def nudge(environment):
    subprocess.run([sys.executable, "-c", NUDGE], cwd=ROOT, env=environment, timeout=60, check=True)


def wait_for(condition):
    end = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end, "the workers did not get there in time"
        time.sleep(0.2)


def held() -> set[int]:
    """Accounts that some worker is planning."""
    return set(PlanClaim.objects.exclude(token=None).values_list("account_id", flat=True))


def planned() -> set[int]:
    return set(ScheduleVersion.objects.values_list("account_id", flat=True))


def send_again():
    """What minutes do: work that was sent and not begun counts as lost."""
    PlanClaim.objects.update(sent_at=None)


def test_two_workers_plan_no_account_twice_and_one_that_is_killed_loses_nothing(production):
    accounts = {make_user(f"account-{i}@example.org") for i in range(ACCOUNTS)}
    for account in accounts:
        make_workflow(account, now=None)
    everybody = {account.pk for account in accounts}
    with worker("killed@test", production) as killed:
        nudge(production)
        wait_for(held)
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait(30)
    (half_done,) = held()
    assert half_done not in planned(), "it was killed in the middle"
    send_again()
    with worker("one@test", production), worker("two@test", production):
        for _ in range(3):  # every account is in the queue several times
            nudge(production)
            send_again()
        wait_for(lambda: planned() == everybody - {half_done})
        assert held() >= {half_done}, "nobody takes what another may still be planning"
        PlanClaim.objects.filter(account=half_done).update(claimed_until="2020-01-01T00:00Z")  # what the lease does
        send_again()
        nudge(production)
        wait_for(lambda: planned() == everybody and not held())
    assert not accounts_due()
    numbers = ScheduleVersion.objects.values_list("account_id", "number")
    assert sorted(numbers) == [(account, 1) for account in sorted(everybody)], "each once"
