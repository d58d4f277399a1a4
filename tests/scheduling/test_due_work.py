"""What beat and workers do in production the ticker does embedded, by the same services."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.core.management import CommandError, call_command

from asyncenergy.celery import app
from scheduling import tasks
from scheduling.models import PlanClaim, PowerProfile, RunRecord, ScheduleVersion, Tariff
from scheduling.services.claims import account_mark_due
from scheduling.services.runs import runs_ingest, samples_append
from tests.scheduling.people import NOON, make_workflow

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _clock():
    with time_machine.travel(NOON, tick=False):
        yield


@pytest.fixture
def work(submitter):
    return make_workflow(submitter, now=None)


def test_the_ticker_plans_what_is_due(work, submitter):
    call_command("tick", "--once")
    version = ScheduleVersion.objects.get(account=submitter)
    assert version.number == 1
    call_command("tick", "--once")
    assert ScheduleVersion.objects.count() == 1, "once is enough"


def test_every_periodic_task_is_known_and_runs_twice_without_harm(work):
    app.loader.import_default_modules()
    ours = [entry["task"] for entry in app.conf.beat_schedule.values() if entry["task"].startswith("scheduling.")]
    assert set(ours) == {
        "scheduling.fetch_prices",
        "scheduling.close_work_over",
        "scheduling.plan_due",
        "scheduling.roll_up_runs",
        "scheduling.settle_savings",
        "scheduling.send_notices",
    }
    for name in ours * 2:
        app.tasks[name]()
    assert ScheduleVersion.objects.count() == 1


def test_in_production_each_account_is_a_task_of_its_own(work, submitter, settings, monkeypatch):
    settings.EMBEDDED = False
    sent = []
    monkeypatch.setattr(tasks.plan_account, "delay", lambda account_id: sent.append(account_id))
    assert tasks.plan_due() == 1
    assert sent == [submitter.pk]
    assert tasks.plan_due() == 0, "it is in the queue already"
    PlanClaim.objects.update(sent_at=NOON - timedelta(minutes=6))
    assert tasks.plan_due() == 1, "its message counts as lost"
    account_mark_due(account=submitter, cause="test", now=NOON)
    assert tasks.plan_due() == 1, "something new has happened"
    assert not ScheduleVersion.objects.exists()
    assert tasks.plan_account(submitter.pk) is True
    assert tasks.plan_account(submitter.pk) is False, "it may run twice"
    assert tasks.plan_account(10**9) is False


@pytest.mark.parametrize("failure", [OSError("its disk is full"), KeyError("nobody thought of this")])
def test_one_account_that_fails_keeps_no_other_from_its_plan(work, submitter, other_submitter, monkeypatch, failure):
    make_workflow(other_submitter, now=None)
    real = tasks.services.account_plan

    def fails_for_one(*, account):
        if account == submitter:
            PlanClaim.objects.filter(account=account).update(due_at=None)
            raise failure
        return real(account=account)

    monkeypatch.setattr(tasks.services, "account_plan", fails_for_one)
    call_command("tick", "--once")
    assert ScheduleVersion.objects.filter(account=other_submitter).exists(), "in the same round"


def test_an_account_whose_stored_fees_can_not_be_read_is_tried_again_later_and_holds_up_no_other(
    work, submitter, other_submitter
):
    periods = [{"days": "all", "from": "22:00", "to": "06:00", "price": "1e30"}]
    Tariff.objects.create(user=submitter, grid_periods=periods)
    make_workflow(other_submitter, now=None)
    call_command("tick", "--once")
    assert ScheduleVersion.objects.get().account == other_submitter
    claim = PlanClaim.objects.get(account=submitter)
    assert (claim.claimed_until, claim.failures) == (None, 1)


def test_samples_are_rolled_up_by_the_worker(submitter):
    body = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat()}
    run = runs_ingest(account=submitter, body=body)[0].run
    samples = [{"ts": f"2026-08-20T12:00:{s:02d}Z", "power_w": 360.0, "cpu_rapl_uj": s * 1e6} for s in range(60)]
    samples_append(account=submitter, run_id=run.pk, samples=samples[30:])
    samples_append(account=submitter, run_id=run.pk, samples=samples[:40])
    assert RunRecord.objects.get().rollup_due
    assert tasks.roll_up_runs() == 1
    profile = PowerProfile.objects.get()
    assert (profile.n_samples, profile.p95_w) == (60, 360)
    assert profile.sampled_wh == pytest.approx(5.9)
    assert profile.cpu_wh == pytest.approx(59 / 3600)
    assert tasks.roll_up_runs() == 0


def test_plan_by_hand_says_what_came_of_it(work, submitter, capsys):
    call_command("plan")
    assert re.search(r"version 1, 2 placed, 0 do not fit, [\d.]+ EUR, at least", capsys.readouterr().out)
    assert ScheduleVersion.objects.count() == 1
    call_command("plan")
    assert "No account is due." in capsys.readouterr().out
    call_command("plan", "--account", submitter.email)
    assert "nothing new to publish" in capsys.readouterr().out
    with pytest.raises(CommandError, match="no account"):
        call_command("plan", "--account", "nobody@example.org")
