"""`--check`: whether what is in the catalog will ever run here, row by row."""

import pytest
from asyncenergy_controller import clock
from asyncenergy_controller.loop.check import check_rows, exit_code
from asyncenergy_controller.server import ServerClient

from tests.controller.jobs_files import command, write_jobs
from tests.controller.loop_box import LoopBox, in_s, planned
from tests.controller.loop_plans import OTHER, WORKFLOW, unplaced
from tests.controller.loop_server import UNAUTHORISED, loop_server


@pytest.fixture
def box(tmp_path):
    with loop_server() as server:
        box = LoopBox(tmp_path, server)
        box.has()
        box.plan(planned(start_s=3600))
        server.workflows = [workflow()]
        yield box


def workflow(workflow_id=WORKFLOW, **values):
    window = {"earliest_start": "2026-12-01T21:00:00+00:00", "deadline": "2026-12-02T06:00:00+00:00"}
    given = {"name": "night-batch", "enabled": True, "controller_id": "box", "next_window": window}
    return {"id": workflow_id} | given | values


def look(box):
    with ServerClient(box.settings, attempts=1) as client:
        rows = list(check_rows(box.settings, client, "box", clock.now()))
    return rows, exit_code(rows)


def found(box, code, name="night-batch"):
    """What is said of the first thing of that name that isn't well."""
    rows, ended = look(box)
    assert ended == code
    return next(row for row in rows if row.name == name and row.state != "ok")


def test_where_all_is_well_every_row_says_so(box):
    rows, code = look(box)
    assert code == 0
    assert [(row.name, row.state) for row in rows] == [
        ("catalog", "ok"),
        ("credentials", "ok"),
        ("schedule", "ok"),
        ("night-batch", "ok"),
    ]
    assert rows[-1].found.startswith("planned for ")


def test_nothing_is_run_by_looking(box):
    box.plan(planned())
    look(box)
    assert box.marks() == 0
    assert box.server.acks == box.records() == []


def test_an_empty_catalog_is_told_from_a_missing_one(box):
    write_jobs(box.settings.job_catalog, {})
    assert "holds no job" in found(box, 1, "catalog").found
    box.settings.job_catalog.unlink()
    assert "No such file" in found(box, 2, "catalog").found


def test_a_catalog_that_others_can_write_is_a_fault_of_the_file(box):
    box.settings.job_catalog.chmod(0o666)
    assert "can be written by others" in found(box, 2, "catalog").found


def test_a_mistyped_id_is_named_with_what_to_do(box):
    box.has(workflow_id=OTHER)
    row = found(box, 1)
    assert OTHER in row.found
    assert "correct the id" in row.advice


def test_a_workflow_of_this_box_without_an_entry_will_never_run(box):
    box.server.workflows.append(workflow(OTHER, name="forgotten"))
    assert "planned for this box alone" in found(box, 1, "forgotten").found


def test_a_workflow_without_a_box_may_run_on_another(box):
    box.server.workflows.append(workflow(OTHER, name="shared", controller_id=None))
    assert "another may run it" in found(box, 0, "shared").found


def test_a_workflow_of_another_box_will_never_run_here(box):
    box.server.workflows = [workflow(controller_id="attic")]
    row = found(box, 1)
    assert "the box attic" in row.found
    assert "CONTROLLER_ID=attic" in row.advice


@pytest.mark.parametrize(
    ("job", "of_workflow", "words"),
    [
        ({}, {"enabled": False}, "switched off"),
        ({"max_runs_per_day": 0}, {}, "max_runs_per_day is 0"),
    ],
)
def test_what_is_switched_off_will_never_run(box, job, of_workflow, words):
    box.has(**job)
    box.server.workflows = [workflow(**of_workflow)]
    assert words in found(box, 1).found


def test_hours_that_never_hold_the_plan_are_told(box):
    at = in_s(3600).astimezone()
    closed = f"{at.hour:02}:{at.minute:02}"
    opens = in_s(3600 + 7200).astimezone()
    box.has(allowed_hours=f"{opens.hour:02}:{opens.minute:02}-{closed}")
    box.plan(planned(start_s=3600, deadline_s=3600 * 2.2))
    assert "allowed_hours" in found(box, 1).found


def test_a_split_plan_for_a_job_that_may_not_be_interrupted_is_told(box):
    box.plan(planned(pieces=[(in_s(100), in_s(200)), (in_s(300), in_s(400))]))
    assert "interruptible" in found(box, 1).found


def test_a_job_that_finds_no_time_gets_the_servers_advice(box):
    box.plan(unplaced(smallest_change="a deadline 40 min later"))
    row = found(box, 1)
    assert "finds no time: duration 5h > window 3h" in row.found
    assert row.advice == "a deadline 40 min later"


def test_a_job_between_two_plans_is_well(box):
    box.plan()
    rows, code = look(box)
    assert code == 0
    assert "wanted between" in rows[-1].found


def test_a_job_that_was_wanted_once_is_over(box):
    box.plan()
    box.server.workflows = [workflow(next_window=None)]
    assert "that is over" in found(box, 1).found


def test_a_program_that_is_not_there_would_fail(box):
    write_jobs(box.settings.job_catalog, {WORKFLOW: command("/nowhere/program") | {"name": "night-batch"}})
    assert "/nowhere/program" in found(box, 1).found


def test_a_refused_key_is_told_from_a_server_that_is_away(box):
    box.server.always = UNAUTHORISED
    assert found(box, 4, "credentials").found == "This key is not valid."
    box.server.always = (503, {"detail": "The server is being moved."})
    assert found(box, 4, "server").found == "The server is being moved."


def test_a_wrong_file_comes_before_a_server_that_is_away(box):
    box.server.always = UNAUTHORISED
    box.settings.job_catalog.write_text("{")
    assert look(box)[1] == 2
