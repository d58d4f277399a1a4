"""Plans: cheap hours before deadlines, immutable versions, nothing that has begun is moved."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import User
from scheduling.models import Occurrence, Placement, PlanClaim, ScheduleVersion
from scheduling.optimizer import Piece
from scheduling.selectors.planning import AHEAD
from scheduling.selectors.schedule import certificate_of, placements_of, prices_of
from scheduling.services import planning
from scheduling.services.account import account_update, controller_contact
from scheduling.services.occurrences import occurrence_finish, occurrence_start, occurrences_close
from scheduling.services.planning import account_plan, accounts_due, work_over_close
from scheduling.services.runs import runs_ingest
from scheduling.services.workflows import (
    workflow_delete,
    workflow_run_now,
    workflow_skip_next,
    workflow_update,
)
from tests.scheduling.people import MIDNIGHT, NOON, at, make_market, make_workflow, placement_of, plan, publish

pytestmark = pytest.mark.django_db
WAVE = [0.30] * 6 + [0.10] * 2 + [0.30] * 12 + [0.20] * 4  # cheap 06-08, less so 20-24


@pytest.fixture
def market():
    return make_market(*WAVE * 3)


def wire(version: ScheduleVersion, now=NOON) -> list[tuple]:
    return [(p.workflow_id, p.start, p.end) for p in placements_of(version, now=now)]


def test_a_job_is_placed_in_the_cheapest_hours_before_its_deadline(submitter, market):
    version = plan(submitter) if make_workflow(submitter, recurrence="none", deadline="by 9am") else None
    placed = version.placements.get()
    assert (placed.start, placed.end) == (at(6, 21), at(7.25, 21))
    assert placed.end - placed.start == timedelta(seconds=3600 * 1.25), "the estimate and a quarter are kept free"
    assert (placed.feasible, placed.prediction_method, placed.predicted_wh) == (True, "nameplate", 300)
    assert float(placed.cost) == pytest.approx(0.03)
    assert float(placed.earliest_cost) == pytest.approx(0.09)
    assert 0.03 < float(placed.random_cost) < 0.09
    assert placed.latest_start == at(7.75, 21)
    assert version.lower_bound <= version.cost


def test_a_start_that_did_not_move_is_the_same_in_every_version(submitter, market):
    first = make_workflow(submitter, deadline="by 9am", recurrence="none")
    before = placement_of(plan(submitter), first)
    make_workflow(submitter, name="another", controller_id="another box", deadline="by 11am", recurrence="none")
    version = plan(submitter, NOON + timedelta(minutes=7, seconds=13, microseconds=5))
    after = placement_of(version, first)
    assert version.number == 2
    assert after.start == before.start
    assert after.start.microsecond == 0


def test_a_plan_that_changes_nothing_is_no_new_version(submitter, market):
    make_workflow(submitter, deadline="by 9am", recurrence="none")
    assert plan(submitter).pk == plan(submitter, NOON + timedelta(minutes=5)).pk


def test_an_occurrence_is_planned_before_its_window_opens(submitter, market):
    make_workflow(submitter, deadline="by 7am")
    deadlines = sorted(p.deadline for p in plan(submitter).placements.all())
    assert deadlines == [at(7, 21), at(7, 22)]
    assert Occurrence.objects.count() == 3
    assert timedelta(hours=24) < AHEAD


def test_two_jobs_of_one_machine_share_the_cheap_hours_one_after_the_other(submitter, market):
    for name in ("a", "b"):
        make_workflow(submitter, name=name, deadline="by 9am", recurrence="none")
    one, two = plan(submitter).placements.order_by("start")
    assert one.end <= two.start
    assert float(one.cost + two.cost) < 2 * 0.09


def test_the_watt_limit_of_an_account_holds_over_its_machines(submitter, market):
    for box in ("box-1", "box-2"):
        make_workflow(submitter, name=box, controller_id=box, deadline="by 9am", recurrence="none")
    together = [p.start for p in plan(submitter).placements.all()]
    assert together[0] == together[1]
    account_update(account=submitter, watt_limit=500.0, now=NOON)
    one, two = plan(submitter).placements.order_by("start")
    assert one.start + timedelta(hours=1) <= two.start


def test_what_does_not_fit_is_listed_with_the_smallest_change(submitter, market):
    workflow = make_workflow(submitter, deadline="in 4 h", recurrence="none", est_duration_s=4 * 3600.0)
    placed = placement_of(plan(submitter), workflow)
    assert (placed.feasible, placed.start) == (False, None)
    assert placed.reason == "duration 5h > window 4h"
    assert (placed.later_min, placed.proof) == (60, "window")
    assert "60 min later" in placed.smallest_change


def test_a_deadline_is_never_moved_and_nothing_runs_past_it(submitter, market):
    for i in range(5):
        make_workflow(submitter, name=str(i), deadline="by 9am", earliest_start="5am", recurrence="none")
    placements = plan(submitter).placements.all()
    assert all(p.end <= p.deadline == at(9, 21) for p in placements if p.feasible)
    assert sum(not p.feasible for p in placements) == 2, "four hours hold three runs of 1 h 15"


def test_what_nobody_can_predict_is_not_guessed(submitter, market):
    workflow = make_workflow(submitter, nameplate_watts=None, deadline="by 9am", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    assert not placed.feasible
    assert "nameplate_watts" in placed.reason
    assert (placed.predicted_wh, placed.cost) == (None, None)


def test_before_the_auction_the_plan_stands_on_a_forecast_and_says_so(submitter):
    market = make_market(*WAVE * 8, start=at(0, 13))
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter, at(10))
    assert placement_of(version, workflow).start == at(6, 21), "a provisional slot, not a wait"
    assert (version.degraded, version.valid_until) == (True, at(0, 21))
    assert version.price_coverage == pytest.approx(14 / 23)
    assert any(p["is_forecast"] for p in prices_of(version)["prices"])
    publish(market, *[0.01] * 3, *[0.30] * 21, start=at(0, 21), now=at(13))
    assert accounts_due(now=at(13)) == [submitter.pk]
    version = plan(submitter, at(13))
    assert (version.degraded, version.price_coverage) == (False, 1.0)
    assert version.cause == "prices"
    assert placement_of(version, workflow).start == at(0, 21)


def test_a_time_without_any_price_is_never_chosen(submitter):
    make_market(*[0.30] * 13, start=at(0))
    publish(make_market(), 0.20, start=at(15))
    workflow = make_workflow(submitter, deadline="18:00", recurrence="none", est_duration_s=2880.0)
    placed = placement_of(plan(submitter), workflow)
    assert (placed.start, placed.end) == (at(15), at(16))


def test_what_has_begun_stays_over_midnight_and_over_new_prices(submitter, market):
    workflow = make_workflow(submitter, deadline="by 3am", earliest_start="23:30", recurrence="none")
    before = placement_of(plan(submitter), workflow)
    assert before.start == at(23.5)
    publish(market, *[0.01] * 6, start=at(0, 21), now=at(23.6))
    after = placement_of(plan(submitter, at(0.2, 21)), workflow)
    assert (after.start, after.end, after.occurrence_id) == (before.start, before.end, before.occurrence_id)


def test_a_start_that_is_minutes_away_is_left_alone(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", earliest_start="23:30", recurrence="none")
    start = placement_of(plan(submitter), workflow).start
    publish(market, *[0.01] * 8, start=start + timedelta(hours=1), now=start - timedelta(minutes=1))
    assert placement_of(plan(submitter, start - timedelta(minutes=1)), workflow).start == start
    assert placement_of(plan(submitter, start + timedelta(minutes=1)), workflow).start == start


def test_finished_work_leaves_at_once_by_a_new_version_and_is_not_planned_again(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    other = make_workflow(submitter, name="other", deadline="by 11am", recurrence="none")
    version = plan(submitter)
    occurrence_finish(occurrence_id=placement_of(version, workflow).occurrence_id, now=at(13))
    newest = ScheduleVersion.objects.first()
    assert (newest.number, newest.based_on) == (2, version)
    assert {p.workflow_id for p in newest.placements.all()} == {other.pk}
    assert placement_of(newest, other).start == placement_of(version, other).start
    assert {p.workflow_id for p in plan(submitter, at(14)).placements.all()} == {other.pk}


def test_versions_never_change_once_they_are_published(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am")
    first = plan(submitter)
    rows = list(Placement.objects.filter(version=first).values())
    workflow_skip_next(workflow=workflow, now=at(13))
    plan(submitter, at(13))
    workflow_update(workflow=workflow, deadline="by 5am", now=at(14))
    plan(submitter, at(14))
    assert list(Placement.objects.filter(version=first).values()) == rows
    numbers = list(ScheduleVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


def test_what_is_over_is_never_served(submitter, market):
    make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter)
    end = version.placements.get().end
    assert wire(version, end - timedelta(seconds=1))
    assert wire(version, end) == []


def test_a_slot_that_ends_without_a_report_leaves_and_is_missed_at_its_deadline(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    placed = placement_of(plan(submitter), workflow)
    assert work_over_close(now=placed.end) == 1
    one = Occurrence.objects.get()
    assert one.status == "unreported"
    assert not ScheduleVersion.objects.first().placements.exists()
    assert not plan(submitter, placed.end).placements.exists(), "it may have run, so it is not placed again"
    work_over_close(now=at(9, 21))
    one.refresh_from_db()
    assert (one.status, one.ended_at) == ("missed", at(9, 21))
    report = {"controller_id": "b", "run_id": "1", "ts": at(10, 21).isoformat(), "exit_status": "success"}
    runs_ingest(account=submitter, body=report | {"occurrence_id": str(one.pk)}, now=at(10, 21))
    one.refresh_from_db()
    assert one.status == "done", "a record has the last word"


def test_a_box_that_was_off_runs_later_because_it_says_so_by_polling(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", controller_id="box", recurrence="none", earliest_start="1am")
    publish(market, 0.01, 0.01, start=at(1, 21))
    placed = placement_of(plan(submitter), workflow)
    occurrences_close(account=submitter, now=placed.end)
    controller_contact(account=submitter, controller_id="box", version=1, now=placed.end + timedelta(minutes=30))
    work_over_close(now=placed.end + timedelta(minutes=31))
    again = placement_of(plan(submitter, placed.end + timedelta(minutes=31)), workflow)
    assert (again.attempt, again.occurrence_id) == (2, placed.occurrence_id)
    assert again.start >= placed.end + timedelta(minutes=31)
    assert again.end <= at(9, 21)


def test_begun_by_an_older_version_the_newest_shows_the_real_start(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    old = placement_of(plan(submitter), workflow)
    publish(market, 0.01, 0.01, start=at(2, 21), now=at(13))
    moved = placement_of(plan(submitter, at(13)), workflow)
    assert moved.start != old.start
    occurrence_start(placement=old, at=old.start, now=at(13.5))
    newest = ScheduleVersion.objects.first()
    assert placement_of(newest, workflow).start == old.start
    assert placement_of(plan(submitter, at(14)), workflow).start == old.start


def test_switching_off_skipping_and_deleting_take_effect_at_once(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am")
    plan(submitter)
    skipped = workflow_skip_next(workflow=workflow, now=at(13))
    assert skipped.deadline == at(9, 21)
    assert {p.deadline for p in ScheduleVersion.objects.first().placements.all()} == {at(9, 22)}
    assert {p.deadline for p in plan(submitter, at(13)).placements.all()} == {at(9, 22)}, "it comes back no more"
    workflow = workflow_update(workflow=workflow, enabled=False, now=at(14))
    assert not ScheduleVersion.objects.first().placements.exists()
    workflow = workflow_update(workflow=workflow, enabled=True, now=at(15))
    assert {p.deadline for p in plan(submitter, at(15)).placements.all()} == {at(9, 22)}
    workflow_delete(workflow=workflow, now=at(16))
    assert not ScheduleVersion.objects.first().placements.exists()
    assert not plan(submitter, at(17)).placements.exists()


def test_run_now_begins_as_soon_as_the_machine_is_free_and_not_again_tonight(submitter, market):
    busy = make_workflow(submitter, name="busy", deadline="in 80 min", recurrence="none")
    running = placement_of(plan(submitter), busy)
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    workflow_run_now(workflow=workflow, now=at(12.1))
    placed = plan(submitter, at(12.1)).placements.filter(workflow=workflow)
    assert [p.start for p in placed] == [running.end]


def test_run_now_of_a_finished_workflow_makes_one_more_run(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    occurrence_finish(occurrence_id=placement_of(plan(submitter), workflow).occurrence_id, now=at(13))
    workflow_run_now(workflow=workflow, now=at(13))
    assert placement_of(plan(submitter, at(13)), workflow).start == at(13)


def test_a_paused_account_plans_nothing_and_lets_run_what_runs(submitter, market):
    running = make_workflow(submitter, name="running", deadline="in 80 min", recurrence="none")
    make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter)
    occurrence_start(placement=placement_of(version, running), at=None, now=at(12.1))
    account_update(account=submitter, paused=True, now=at(12.2))
    assert {p.workflow_id for p in ScheduleVersion.objects.first().placements.all()} == {running.pk}
    assert {p.workflow_id for p in plan(submitter, at(12.3)).placements.all()} == {running.pk}
    account_update(account=submitter, paused=False, now=at(13))
    assert plan(submitter, at(13)).placements.count() == 2


def test_an_interruptible_run_keeps_its_pieces_that_have_begun_and_moves_the_rest(submitter):
    prices = [0.30, 0.10, 0.30, 0.30, 0.10, 0.30, 0.30, 0.30]
    market = make_market(*prices, start=at(12))
    workflow = make_workflow(
        submitter,
        deadline="in 8 h",
        recurrence="none",
        controller_id="box",
        interruptible=True,
        est_duration_s=5760.0,
    )
    placed = placement_of(plan(submitter), workflow)
    assert placed.pieces == [[at(13).isoformat(), at(14).isoformat()], [at(16).isoformat(), at(17).isoformat()]]
    publish(market, 0.01, start=at(18), now=at(13.5))
    moved = placement_of(plan(submitter, at(13.5)), workflow)
    assert moved.pieces == [placed.pieces[0], [at(18).isoformat(), at(19).isoformat()]]
    assert moved.start == placed.start


def test_the_certificate_of_a_version_is_its_plans_and_says_so(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am", recurrence="none")
    version = plan(submitter)
    workflow_skip_next(workflow=workflow, now=at(13))
    one, two = (certificate_of(submitter, number) for number in (1, 2))
    assert (one["schedule_version"], two["schedule_version"]) == (1, 2)
    assert one["planned_as_version"] == two["planned_as_version"] == 1
    assert one["currency"] == "EUR"
    assert one["lower_bound"] == pytest.approx(float(version.lower_bound))
    assert certificate_of(submitter, 3) is None


def test_an_account_is_planned_once_each_local_date(submitter, market):
    User.objects.filter(pk=submitter.pk).update(timezone="Europe/Helsinki")
    submitter.refresh_from_db()
    make_workflow(submitter)
    assert accounts_due(now=NOON) == [submitter.pk]
    account_plan(account=submitter, now=NOON)
    assert accounts_due(now=at(20.9)) == [], "23:54 in Helsinki"
    due = PlanClaim.objects.get().due_at
    assert at(21) <= due < at(21.2), "soon after midnight there"
    assert account_plan(account=submitter, now=at(13)) is None, "not due, not planned"


@pytest.mark.campaign
def test_a_week_of_daily_work_over_the_clock_change_runs_each_day_once(submitter):
    make_market(*WAVE * 12, start=MIDNIGHT.replace(month=10))
    User.objects.filter(pk=submitter.pk).update(timezone="Europe/Berlin")
    submitter.refresh_from_db()
    now = MIDNIGHT.replace(month=10, day=22, hour=12)
    make_workflow(submitter, now=now)
    done = []
    while now < MIDNIGHT.replace(month=10, day=29):
        work_over_close(now=now)
        account_plan(account=submitter, now=now)
        for p in placements_of(ScheduleVersion.objects.first(), now=now):
            if p.start <= now:
                occurrence_finish(occurrence_id=p.occurrence_id, now=now)
                done.append(p.deadline)
        now += timedelta(hours=1)
    assert [d.isoformat()[:13] for d in done[:6]] == [
        "2026-10-23T05",
        "2026-10-24T05",
        "2026-10-25T06",
        "2026-10-26T06",
        "2026-10-27T06",
        "2026-10-28T06",
    ]
    assert len(set(done)) == len(done)


@pytest.mark.parametrize(
    ("noon", "last_deadline"),
    [
        (datetime(2024, 3, 30, 11, tzinfo=UTC), datetime(2024, 3, 31, 5, tzinfo=UTC)),
        (datetime(2026, 10, 24, 10, tzinfo=UTC), datetime(2026, 10, 25, 6, tzinfo=UTC)),
    ],
)
def test_noon_before_the_clock_changes_is_planned_like_any_other(submitter, noon, last_deadline):
    User.objects.filter(pk=submitter.pk).update(timezone="Europe/Berlin")
    submitter.refresh_from_db()
    make_market(*[0.3, 0.2, 0.1, 0.25] * 12, start=noon)
    workflow = make_workflow(submitter, now=noon, earliest_start="20:00", est_duration_s=4 * 3600.0)
    placed = placement_of(plan(submitter, noon), workflow)
    assert (placed.feasible, placed.deadline) == (True, last_deadline)
    window_h = (placed.deadline - placed.occurrence.earliest_start) / timedelta(hours=1)
    assert window_h == (10 if noon.month == 3 else 12), "11 h on the wall are 10 or 12"


def test_an_unsound_answer_of_the_solver_is_never_published(submitter, market, monkeypatch):
    make_workflow(submitter, deadline="by 9am", recurrence="none")
    real = planning.solve

    def shifted(question, **limits):
        answer = real(question, **limits)
        (one,) = answer.plan.placements
        pieces = tuple(Piece(p.start + timedelta(hours=3), p.end + timedelta(hours=3)) for p in one.pieces)
        return replace(answer, plan=replace(answer.plan, placements=(replace(one, pieces=pieces),)))

    monkeypatch.setattr(planning, "solve", shifted)
    assert account_plan(account=submitter, now=NOON) is None
    assert not ScheduleVersion.objects.exists()
    assert accounts_due(now=NOON + timedelta(minutes=1)) == [submitter.pk], "it is tried again"


def test_an_account_can_be_deleted_with_all_it_scheduled(submitter, market):
    workflow = make_workflow(submitter, deadline="by 9am")
    plan(submitter)
    workflow_skip_next(workflow=workflow, now=at(13))
    body = {"controller_id": "b", "run_id": "1", "ts": NOON.isoformat(), "workflow_id": str(workflow.pk)}
    runs_ingest(account=submitter, body=body, now=NOON)
    submitter.delete()
    assert not ScheduleVersion.objects.exists()
    assert not Placement.objects.exists()
    assert not PlanClaim.objects.exists()
