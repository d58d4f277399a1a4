"""Workflows in the browser: made, changed, paused, skipped, run at once, deleted, by forms that need no script."""

import pytest
from django.test import Client

from scheduling.models import Occurrence, RunRecord, Workflow
from tests.bench.pages_html import read
from tests.scheduling.people import NOON, make_workflow, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
LIST = "/schedule/workflows/"
SAID = {
    "name": "nightly embeddings",
    "framework": "command",
    "minutes": "90",
    "nameplate_watts": "300",
    "deadline": "by 7am",
    "earliest_start": "22:00",
    "recurrence": "daily",
}


def page_of(client, workflow, more=""):
    return read(client.get(f"{LIST}{workflow.pk}/{more}"))


def press(client, workflow, act, **data):
    return client.post(f"{LIST}{workflow.pk}/{act}/", data, follow=True)


def test_a_workflow_is_registered_as_it_was_said(own, submitter):
    answer = own.post(f"{LIST}new/", SAID, follow=True)
    workflow = Workflow.objects.get()
    assert answer.redirect_chain == [(f"{LIST}{workflow.pk}/", 302)]
    assert (workflow.account, workflow.name, workflow.est_duration_s) == (submitter, "nightly embeddings", 5400)
    assert (workflow.controller_id, workflow.interruptible, workflow.priority) == (None, False, 0)
    assert Occurrence.objects.order_by("deadline")[0].deadline.hour == 7
    assert "Its place is found within seconds" in answer.text


def test_everything_that_the_api_takes_can_be_said(own):
    more = {
        "controller_id": "box-1",
        "interruptible": "on",
        "min_run_minutes": "10",
        "restart_wh": "2.5",
        "priority": "3",
        "bench_gpu_class": "RTX 3090",
        "bench_model_size_class": "8b",
        "bench_quant": "Q4_K_M",
    }
    own.post(f"{LIST}new/", SAID | more)
    made = Workflow.objects.get()
    assert (made.min_run_s, made.restart_wh, made.priority, made.bench_quant) == (600, 2.5, 3, "Q4_K_M")
    assert (made.controller_id, made.interruptible) == ("box-1", True)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("deadline", "whenever", "by friday 7am"),
        ("earliest_start", "25:00", "25:00"),
        ("minutes", "-1", "greater than or equal to"),
        ("name", "", "required"),
        ("nameplate_watts", "inf", "Enter a number"),
        ("interruptible", "on", "Only a controller that registers its work"),
        ("min_run_minutes", "100", "longer than est_duration_s"),
    ],
)
def test_what_can_not_be_taken_is_said_at_its_field_and_nothing_is_stored(own, field, value, words):
    answer = own.post(f"{LIST}new/", SAID | {field: value})
    page = read(answer)
    assert f"id_{field}_error" in page.values("id")
    assert words in page.text
    assert "Nothing was changed" in page.text
    assert 'value="nightly embeddings"' in answer.text or field == "name"
    assert page.faults == []
    assert not Workflow.objects.exists()


def test_an_edit_shows_what_is_said_and_changes_what_is_changed(own, submitter):
    workflow = make_workflow(submitter, priority=2)
    page = page_of(own, workflow, "edit/")
    fields = {field.get("name"): field.get("value") for field in page.all("input")}
    shown = {name: fields[name] for name in ("name", "minutes", "deadline", "priority")}
    assert shown == {"name": "nightly", "minutes": "60", "deadline": "by 7am", "priority": "2"}
    before = Workflow.objects.values().get()
    kept = {"name": "nightly", "framework": "command", "minutes": "60", "nameplate_watts": "300"}
    answer = own.post(
        f"{LIST}{workflow.pk}/edit/", kept | {"deadline": "by 5am", "recurrence": "daily", "priority": "2"}, follow=True
    )
    assert "Changed." in answer.text
    after = Workflow.objects.values().get()
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"deadline", "said_at", "updated_at"}
    assert Occurrence.objects.filter(status="open").order_by("deadline")[0].deadline.hour == 5


def test_a_broken_edit_keeps_the_workflow_as_it_was(own, submitter):
    workflow = make_workflow(submitter)
    answer = own.post(f"{LIST}{workflow.pk}/edit/", SAID | {"deadline": "never"})
    assert "id_deadline_error" in read(answer).values("id")
    assert Workflow.objects.get().deadline == "by 7am"


def test_pausing_takes_it_out_of_the_plan_and_going_on_puts_it_back(own, submitter):
    workflow = make_workflow(submitter)
    plan(submitter)
    assert "is paused" in press(own, workflow, "pause").text
    assert not Occurrence.objects.filter(status="open").exists()
    page = page_of(own, workflow)
    assert "Nothing is planned while it is paused" in page.text
    assert "Run now" not in page.text
    press(own, workflow, "resume")
    assert Occurrence.objects.filter(status="open").count() == 3


def test_the_next_time_can_be_skipped_and_only_while_there_is_one(own, submitter):
    workflow = make_workflow(submitter, recurrence="none")
    assert "is left out" in press(own, workflow, "skip-next").text
    assert Occurrence.objects.get().status == "cancelled"
    assert "nothing before it that could be skipped" in press(own, workflow, "skip-next").text


def test_running_now_puts_it_first(own, submitter):
    workflow = make_workflow(submitter)
    assert "begins as soon as its machine is free" in press(own, workflow, "run-now").text
    assert Occurrence.objects.filter(at_once=True).count() == 1
    assert "as soon as possible" in page_of(own, workflow).text


def test_deleting_asks_first_and_keeps_the_runs(own, submitter):
    workflow = make_workflow(submitter)
    RunRecord.objects.create(account=submitter, controller_id="box", run_id="1", ts=NOON, workflow=workflow)
    assert "This can’t be undone" in page_of(own, workflow, "delete/").text
    assert own.get(f"{LIST}{workflow.pk}/").status_code == 200
    answer = press(own, workflow, "delete")
    assert answer.redirect_chain == [(LIST, 302)]
    assert own.get(f"{LIST}{workflow.pk}/").status_code == 404
    assert RunRecord.objects.get().workflow == workflow


def test_the_offered_deadline_is_set_by_a_press_and_then_it_fits(own, submitter):
    make_workflow(submitter, name="archive", est_duration_s=3 * 3600.0, earliest_start="04:00")
    plan(submitter)
    page = read(own.get("/schedule/"))
    (offer,) = [field["value"] for field in page.all("input") if field.get("name") == "deadline"]
    assert offer == "by 07:45"
    answer = press(own, Workflow.objects.get(), "deadline", deadline=offer)
    assert answer.redirect_chain == [("/schedule/", 302)]
    assert all(placement.feasible for placement in plan(submitter).placements.all())


def test_a_deadline_that_makes_no_sense_is_refused_in_words(own, submitter):
    workflow = make_workflow(submitter)
    assert "by friday 7am" in press(own, workflow, "deadline", deadline="soon").text
    assert Workflow.objects.get().deadline == "by 7am"


def test_a_workflow_whose_power_nobody_knows_says_what_is_missing(own, submitter):
    workflow = make_workflow(submitter, nameplate_watts=None)
    words = "Nothing is known of its power: say what it draws, or let it run once."
    assert words in page_of(own, workflow).text
    plan(submitter)
    page = read(own.get("/schedule/"))
    assert f"A, nightly, can’t be planned. {words}" in page.text
    assert page.text.count("can’t be planned.") == 1, "once, though it comes every night"
    assert "never move a deadline" not in page.text


def test_a_controller_that_was_never_in_touch_is_named(own, submitter):
    workflow = make_workflow(submitter, controller_id="box-9")
    assert "No controller called box-9 has been in touch" in page_of(own, workflow).text


def test_the_list_says_when_each_is_next(own, submitter):
    make_workflow(submitter)
    plan(submitter)
    page = read(own.get(LIST))
    assert "Fri 00:00–01:15" in page.text
    assert "due Fri 21 Aug, 07:00" in page.text
    assert page.faults == []


def test_a_long_list_has_pages(own, submitter):
    for number in range(51):
        make_workflow(submitter, name=f"job {number}", recurrence="none")
    pages = [own.get(LIST).text, own.get(f"{LIST}?page=2").text]
    assert "Page 1 of 2" in pages[0]
    assert sorted(page.count('scope="row"') for page in pages) == [1, 50]
    assert own.get(f"{LIST}?page=x").status_code == 200


def test_the_pages_ask_the_database_little(own, submitter, django_assert_num_queries):
    workflows = [make_workflow(submitter, name=f"job {number}") for number in range(5)]
    with django_assert_num_queries(6):
        own.get(LIST)
    with django_assert_num_queries(6):
        own.get(f"{LIST}{workflows[0].pk}/")


def test_somebody_elses_workflow_is_not_there(own, other_submitter):
    foreign = make_workflow(other_submitter)
    for act in ("pause", "resume", "run-now", "skip-next", "deadline", "delete"):
        assert press(own, foreign, act).status_code == 404
    missing = own.get(f"{LIST}{foreign.pk}/edit/")
    assert (missing.status_code, "You have no such workflow." in missing.text) == (404, True)
    assert "foreign" not in own.get(LIST).text
    assert Workflow.objects.get().enabled


def test_a_form_without_its_token_changes_nothing(submitter):
    workflow = make_workflow(submitter)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(submitter)
    for address in (f"{LIST}new/", f"{LIST}{workflow.pk}/pause/", f"{LIST}{workflow.pk}/delete/", "/schedule/pause/"):
        assert browser.post(address, SAID).status_code == 403, address
    assert Workflow.objects.get().enabled
