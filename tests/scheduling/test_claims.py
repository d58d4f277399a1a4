"""One UPDATE decides who plans an account; a worker that dies loses nothing, nor does what happens meanwhile."""

import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from decimal import InvalidOperation

import pytest
from django.db import DataError, connection, connections

from scheduling.models import PlanClaim, ScheduleVersion
from scheduling.services import planning
from scheduling.services.acks import Said, schedule_ack
from scheduling.services.claims import LEASE, account_mark_due, claim_fail, claim_release, claim_take
from scheduling.services.occurrences import occurrence_finish, occurrences_close
from scheduling.services.planning import account_plan, accounts_due
from scheduling.services.runs import runs_ingest
from scheduling.services.workflows import workflow_update
from scheduling.solver import SolverFailure
from tests.people import make_user
from tests.scheduling.people import NOON, at, make_market, make_workflow, plan

pytestmark = pytest.mark.django_db


@pytest.fixture
def due(submitter):
    account_mark_due(account=submitter, cause="test", now=NOON)
    return submitter


def test_of_two_workers_one_gets_the_account(due):
    first = claim_take(account_id=due.pk, now=NOON)
    assert claim_take(account_id=due.pk, now=NOON) is None
    assert accounts_due(now=NOON) == []
    claim_release(claim=first, next_due=None)
    assert claim_take(account_id=due.pk, now=NOON) is None, "nothing is due any more"


def test_what_happens_during_a_planning_is_planned_after_it(due):
    claim = claim_take(account_id=due.pk, now=NOON)
    account_mark_due(account=due, cause="another", now=NOON)
    claim_release(claim=claim, next_due=at(23))
    assert accounts_due(now=NOON) == [due.pk]


def test_the_sooner_of_two_due_times_counts(due):
    account_mark_due(account=due, cause="later", at=at(20))
    assert accounts_due(now=NOON) == [due.pk]
    PlanClaim.objects.update(due_at=at(20))
    account_mark_due(account=due, cause="sooner", at=at(15))
    assert PlanClaim.objects.get().due_at == at(15)


def test_the_claim_of_a_worker_that_died_runs_out(due):
    claim_take(account_id=due.pk, now=NOON)
    later = NOON + LEASE + timedelta(seconds=1)
    assert accounts_due(now=later) == [due.pk]
    assert claim_take(account_id=due.pk, now=later) is not None


def test_a_worker_whose_claim_ran_out_publishes_nothing(submitter, monkeypatch):
    make_market(*[0.1] * 48)
    make_workflow(submitter)
    real = planning.solved

    def slow(given, **limits):
        PlanClaim.objects.update(token=None, claimed_until=None)  # what the end of the lease allows another to do
        return real(given, **limits)

    monkeypatch.setattr(planning, "solved", slow)
    assert account_plan(account=submitter, now=NOON) is None
    assert not ScheduleVersion.objects.exists()


@pytest.mark.parametrize(
    "failure",
    [
        SolverFailure("the solver's answer is overdue; it was stopped"),
        InvalidOperation("its money has more digits than are counted"),
        ValueError("a figure that can't be read"),
        DataError("a figure that can't be stored"),
    ],
)
def test_a_planning_that_fails_leaves_the_account_due_and_the_plan_in_force(submitter, monkeypatch, failure):
    make_market(*[0.1] * 48)
    make_workflow(submitter)
    version = plan(submitter)

    def fails(*args, **kwargs):
        raise failure

    monkeypatch.setattr(planning, "solve", fails)
    account_mark_due(account=submitter, cause="test", now=NOON)
    assert account_plan(account=submitter, now=NOON) is None
    assert ScheduleVersion.objects.get() == version
    assert accounts_due(now=NOON) == []
    assert accounts_due(now=NOON + timedelta(seconds=31)) == [submitter.pk]


def test_the_pause_after_failures_grows(due):
    pauses = []
    for _ in range(9):
        claim = claim_take(account_id=due.pk, now=at(20))
        claim_fail(claim=claim, now=NOON)
        pauses.append((PlanClaim.objects.get().due_at - NOON).total_seconds())
    assert pauses[:3] == [30, 60, 120]
    assert pauses[-1] == 1800


def test_what_ends_while_the_solver_thinks_is_not_published_again(submitter, monkeypatch):
    make_market(*[0.1] * 48)
    workflow = make_workflow(submitter, recurrence="none", deadline="by 9am")
    one = plan(submitter).placements.get().occurrence_id
    real = planning.solved

    def meanwhile(given, **limits):
        solution = real(given, **limits)
        occurrence_finish(occurrence_id=one, now=NOON)
        return solution

    monkeypatch.setattr(planning, "solved", meanwhile)
    make_workflow(submitter, name="second", recurrence="none", deadline="by 9am")
    newest = plan(submitter)
    assert workflow.pk not in {p.workflow_id for p in newest.placements.all()}


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="threads race on PostgreSQL; set TEST_DATABASE_URL")
def test_eight_workers_at_once_plan_no_account_twice():
    make_market(*[0.1] * 48)
    accounts = [make_user(f"racer-{i}@example.org") for i in range(4)]
    for account in accounts:
        make_workflow(account)
    start = threading.Barrier(8)

    def work() -> None:
        start.wait(10)
        try:
            for account in accounts:
                account_plan(account=account, now=NOON)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert ScheduleVersion.objects.count() == len(accounts)
    assert set(ScheduleVersion.objects.values_list("number", flat=True)) == {1}
    assert accounts_due(now=NOON) == []


DIES = """
import os, signal, django
django.setup()
from datetime import datetime
from accounts.models import User
from scheduling.services import planning

def killed(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)

planning.solve = killed
now = datetime.fromisoformat(os.environ["NOW"])
planning.account_plan(account=User.objects.get(email=os.environ["WHO"]), now=now)
"""


@pytest.mark.campaign
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_a_worker_killed_in_the_middle_of_a_plan_loses_nothing():
    make_market(*[0.1] * 48)
    account = make_user("victim@example.org")
    workflow = make_workflow(account, recurrence="none", deadline="by 9am")
    environment = os.environ | {
        "DATABASE_URL": _url_of_the_test_database(),
        "DJANGO_SETTINGS_MODULE": "asyncenergy.settings",
        "NOW": NOON.isoformat(),
        "WHO": account.email,
    }
    child = subprocess.run([sys.executable, "-c", DIES], env=environment, timeout=60, check=False)
    assert child.returncode == -signal.SIGKILL
    assert not ScheduleVersion.objects.exists()
    assert accounts_due(now=NOON) == [], "it looks as if somebody were still at it"
    later = NOON + LEASE + timedelta(seconds=1)
    assert accounts_due(now=later) == [account.pk]
    version = account_plan(account=account, now=later)
    assert (version.number, version.placements.get().workflow_id) == (1, workflow.pk)


def _url_of_the_test_database() -> str:
    to = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{to['NAME']}"
    return f"postgres://{to['USER']}:{to['PASSWORD']}@{to['HOST']}:{to['PORT'] or 5432}/{to['NAME']}"


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="threads race on PostgreSQL; set TEST_DATABASE_URL")
def test_planning_reports_and_changes_at_once_never_lock_each_other_out():
    make_market(*[0.1, 0.3] * 36)
    account = make_user("busy@example.org")
    workflows = [make_workflow(account, name=str(i)) for i in range(4)]
    version = plan(account)
    placements = list(version.placements.all())
    start, wrong = threading.Barrier(6), []

    def plans(i):
        account_plan(account=account, now=NOON + timedelta(minutes=i), even_if_not_due=True)

    def acks(i):
        said = Said(version.number, ("started", "finished")[i % 2], str(workflows[i % 4].pk), at=NOON)
        schedule_ack(account=account, said=said, now=NOON + timedelta(minutes=i))

    def reports(i):
        one = placements[i % len(placements)]
        body = {"controller_id": "b", "run_id": str(i), "ts": NOON.isoformat(), "workflow_id": str(one.workflow_id)}
        status = ("error", "success")[i % 2]
        record = {**body, "exit_status": status, "scheduled_start": one.start.isoformat()}
        runs_ingest(account=account, body=record, now=NOON + timedelta(minutes=i))

    def changes(i):
        workflow_update(workflow=workflows[i % 4], priority=i, deadline=f"by {5 + i % 4}am", now=NOON)

    def closes(i):
        occurrences_close(account=account, now=NOON + timedelta(hours=i))

    def work(what) -> None:
        start.wait(10)
        try:
            for i in range(8):
                what(i)
        except Exception as error:
            wrong.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=(what,)) for what in (plans, plans, acks, reports, changes, closes)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert wrong == []
    numbers = list(ScheduleVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
