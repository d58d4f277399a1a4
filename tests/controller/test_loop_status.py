"""One line that tells "not yet" from "never"."""

from datetime import UTC, timedelta, timezone

from asyncenergy_controller.loop.due import Standing, State
from asyncenergy_controller.loop.slots import slots_of
from asyncenergy_controller.loop.status import Running, Situation, status_line, wall_time

from tests.controller.loop_plans import MIDNIGHT, OTHER, WORKFLOW, at, entry, placement, schedule, unplaced

JOBS = {WORKFLOW: entry()}


def line(state=None, *placements, now=MIDNIGHT, reason="", zone=UTC, **more):
    plan = schedule(*placements) if placements else None
    standings = [Standing(slot, state, reason) for slot in slots_of(plan, "box")] if plan else []
    given = {"now": now, "jobs": JOBS, "standings": standings, "schedule": plan} | more
    return status_line(Situation(**given), zone)


def test_an_idle_loop_says_until_when_and_for_what():
    assert line(State.LATER, placement(at(0, 10), at(1))) == "idle until 00:10 (night-batch)"


def test_times_are_those_of_the_wall():
    berlin = timezone(timedelta(hours=1))
    assert line(State.LATER, placement(), zone=berlin) == "idle until 03:00 (night-batch)"


def test_a_start_that_is_near_is_told_to_the_second():
    assert wall_time(at(0, 1, 30), at(0), UTC) == "00:01:30"


def test_a_start_on_another_day_names_it():
    assert wall_time(at(24 + 9), at(12), UTC) == "09:00"
    assert wall_time(at(24 + 13), at(12), UTC) == "Thu 13:00"
    assert wall_time(at(24 * 8), at(12), UTC) == "2026-12-10 00:00"


def test_an_empty_catalog_will_never_run_anything():
    assert line(State.UNKNOWN, placement(), jobs={}) == "nothing will ever run: the catalog holds no job"


def test_a_catalog_that_cannot_be_read_says_so():
    said = line(jobs={}, catalog_problem="jobs.json can be written by others.")
    assert said == "nothing will ever run: jobs.json can be written by others"


def test_a_mistyped_id_will_never_run_and_is_named():
    said = line(State.UNKNOWN, placement(workflow_id=OTHER))
    assert said.startswith(f"nothing will ever run: the catalog has no entry for {OTHER}")
    assert "run --check" in said


def test_an_empty_plan_is_not_never():
    said = status_line(Situation(now=at(0), jobs=JOBS, standings=[], schedule=schedule()), UTC)
    assert said.startswith("idle: nothing is planned for night-batch")


def test_a_job_that_finds_no_time_says_why():
    plan = schedule(unplaced())
    said = status_line(Situation(now=at(0), jobs=JOBS, standings=[], schedule=plan), UTC)
    assert said == "idle: night-batch finds no time: duration 5h > window 3h"


def test_what_is_held_back_says_by_what():
    said = line(State.HELD, placement(), reason="outside its allowed_hours, 22:00-06:00")
    assert said == "holding night-batch back: outside its allowed_hours, 22:00-06:00"


def test_a_running_job_says_until_when():
    assert line(running=Running(WORKFLOW, at(3))) == "running night-batch, at most until 03:00"


def test_a_lost_server_and_reports_that_wait_are_told_beside():
    said = line(State.LATER, placement(), server_problem="Connection refused.", waiting=3)
    assert said == (
        "idle until 02:00 (night-batch); the server can't be asked (Connection refused), going on with schedule 7; "
        "3 reports wait for the server"
    )


def test_past_the_known_prices_it_says_what_follows():
    assert "as late as its deadline allows" in line(State.LATER, placement(at(30), at(31), deadline=at(40)), now=at(24))


def test_a_broken_edit_is_told_while_the_last_good_catalog_is_followed():
    said = line(State.LATER, placement(), catalog_problem="line 3 is no JSON.")
    assert said.endswith("; going on with the last good catalog: line 3 is no JSON")
