"""Notices: off until wanted, once an event, sent again where they did not arrive."""

import json
from datetime import timedelta
from smtplib import SMTPException

import pytest
from django.core.mail import get_connection

from scheduling.errors import NoticeFailed
from scheduling.models import Notice, Occurrence, SchedulingAccount
from scheduling.notices import webhook
from scheduling.services import notices as services
from scheduling.services.account import account_update, controller_contact
from scheduling.services.notices import notice_test, notices_collect, notices_send_due
from scheduling.services.occurrences import occurrences_close
from scheduling.services.runs import runs_ingest
from scheduling.tasks import send_notices
from tests.bench.pages_html import read
from tests.people import key_client
from tests.scheduling.people import NOON, at, make_market, make_workflow, placement_of, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
ALL = {"failed_runs": True, "unmatched_workflows": True, "quiet_controllers": True}
HOOK = "https://hooks.example.org/x"
PAGE = "/schedule/notices/"


@pytest.fixture
def owner(submitter):
    """An account that wants to be told everything."""
    make_market(*[0.3] * 72)
    submitter.email_confirmed_at = NOON
    submitter.save()
    account_update(account=submitter, notices=ALL, now=NOON - timedelta(hours=1))
    return submitter


@pytest.fixture
def hook(monkeypatch):
    """Calls of webhooks, caught at their edge; `hook.broken` says why one fails."""

    class Hook:
        calls = []
        broken = ""

    Hook.calls = []

    def call(url, body, headers):
        Hook.calls.append((url, json.loads(body), headers))
        if Hook.broken:
            raise NoticeFailed(Hook.broken)

    monkeypatch.setattr(webhook, "call", call)
    return Hook


def fail(account, run_id="1", *, received=NOON, **fields):
    body = {"controller_id": "box", "run_id": run_id, "ts": received.isoformat(), "exit_status": "error", **fields}
    return runs_ingest(account=account, body=body, now=received)[0].run


def told():
    return sorted(Notice.objects.values_list("kind", "subject"))


# What is told


def test_nothing_is_told_to_who_did_not_ask(submitter, mailoutbox):
    make_market(*[0.3] * 72)
    fail(submitter)
    controller_contact(account=submitter, controller_id="box", version=None, now=NOON - timedelta(hours=3))
    send_notices()
    assert (told(), mailoutbox) == ([], [])


def test_only_what_was_asked_for_is_told(submitter):
    account_update(account=submitter, notices={"quiet_controllers": True}, now=NOON - timedelta(hours=1))
    fail(submitter)
    assert notices_collect(now=NOON) == 0


def test_a_failed_run_is_told_once_however_often_it_is_looked_for(owner):
    run = fail(owner)
    assert [notices_collect(now=NOON + timedelta(minutes=n)) for n in range(3)] == [1, 0, 0]
    notice = Notice.objects.get()
    assert (notice.kind, notice.subject, notice.facts["run"]) == ("failed_runs", "1 failed on box", str(run.pk))
    assert notice.happened_at == NOON


def test_what_happened_before_it_was_asked_for_is_not_told(submitter):
    fail(submitter)
    account_update(account=submitter, notices=ALL, now=NOON + timedelta(minutes=5))
    assert notices_collect(now=NOON + timedelta(minutes=6)) == 0


def test_switching_on_one_more_kind_loses_nothing_of_the_others(submitter):
    account_update(account=submitter, notices={"failed_runs": True}, now=NOON - timedelta(hours=1))
    fail(submitter)
    account_update(account=submitter, notices={"quiet_controllers": True}, now=NOON + timedelta(minutes=1))
    assert told() == [("failed_runs", "1 failed on box")]


def test_work_that_was_begun_and_not_done_is_told(owner):
    workflow = make_workflow(owner, recurrence="none")
    plan(owner)
    Occurrence.objects.update(started_at=NOON)
    occurrences_close(account=owner, now=at(8, 21))
    assert notices_collect(now=at(8, 21)) == 1
    assert told() == [("failed_runs", f"{workflow.name} was not done by its deadline")]


def unmatched(owner, **fields):
    """A workflow whose place passed without a word."""
    workflow = make_workflow(owner, recurrence="none", **fields)
    placement = placement_of(plan(owner), workflow)
    occurrences_close(account=owner, now=placement.end + timedelta(minutes=1))
    return workflow, placement.end


def test_work_that_nobody_ran_is_told_after_a_while(owner):
    workflow, end = unmatched(owner)
    assert notices_collect(now=end + timedelta(minutes=30)) == 0
    assert notices_collect(now=end + timedelta(hours=3)) == 1
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]
    assert Notice.objects.get().facts["workflow"] == str(workflow.pk)


def test_work_of_a_box_that_is_away_is_told_as_its_silence_alone(owner):
    controller_contact(account=owner, controller_id="box", version=1, now=NOON)
    _, end = unmatched(owner, controller_id="box")
    notices_collect(now=end + timedelta(hours=3))
    assert [kind for kind, _ in told()] == ["quiet_controllers"]


def test_work_that_a_box_in_touch_does_not_know_is_told(owner):
    _, end = unmatched(owner, controller_id="box")
    controller_contact(account=owner, controller_id="box", version=1, now=end + timedelta(hours=3))
    notices_collect(now=end + timedelta(hours=3))
    assert [kind for kind, _ in told()] == ["unmatched_workflows"]


def test_work_that_nobody_runs_night_after_night_is_told_once(owner):
    make_workflow(owner)
    for day in (20, 21, 22):
        plan(owner, at(12, day))
        occurrences_close(account=owner, now=at(7.5, day + 1))
        notices_collect(now=at(11, day + 1))
    assert told() == [("unmatched_workflows", "Nobody ran nightly")]


def test_a_run_that_was_reported_is_not_missed(owner):
    workflow, end = unmatched(owner)
    occurrence = Occurrence.objects.get()
    fields = {"workflow_id": str(workflow.pk), "occurrence_id": str(occurrence.pk), "exit_status": "preempted"}
    fail(owner, received=end, **fields)
    assert notices_collect(now=end + timedelta(hours=3)) == 0


def test_a_quiet_controller_is_told_once_a_silence(owner):
    for hour in (12, 16):
        controller_contact(account=owner, controller_id="box", version=1, now=at(hour))
        assert notices_collect(now=at(hour) + timedelta(minutes=59)) == 0
        assert [notices_collect(now=at(hour) + timedelta(minutes=m)) for m in (61, 90)] == [1, 0]
    assert told() == [("quiet_controllers", "box has gone quiet")] * 2


def test_the_search_takes_few_queries_however_much_happened(owner, django_assert_num_queries):
    for number in range(5):
        fail(owner, str(number))
    notices_collect(now=NOON)
    with django_assert_num_queries(5):
        notices_collect(now=NOON)


# How it is sent


def test_a_notice_goes_by_mail_to_the_confirmed_address(owner, mailoutbox):
    fail(owner)
    send_notices()
    (letter,) = mailoutbox
    assert (letter.to, letter.subject) == ([owner.email], "1 failed on box")
    assert "ended with an error" in letter.body
    notice = Notice.objects.get()
    assert (notice.sent_at, notice.next_attempt_at, notice.attempts) == (NOON, None, 1)
    send_notices()
    assert len(mailoutbox) == 1


def test_a_name_with_line_breaks_makes_no_second_header(owner, mailoutbox):
    fail(owner, workflow_id=str(make_workflow(owner, name="a\r\nBcc: victim@example.org").pk))
    send_notices()
    (letter,) = mailoutbox
    assert letter.recipients() == [owner.email]
    assert letter.subject == "a Bcc: victim@example.org failed on box"


def test_an_address_that_is_not_confirmed_gets_nothing(owner, mailoutbox):
    owner.email_confirmed_at = None
    owner.save()
    fail(owner)
    send_notices()
    assert mailoutbox == []
    assert "is not confirmed yet" in Notice.objects.get().last_error


def test_a_letter_that_is_not_taken_is_sent_again(owner, mailoutbox, monkeypatch, noon):
    fail(owner)

    def refuse(*args, **kwargs):
        raise SMTPException("busy")

    with monkeypatch.context() as broken:
        broken.setattr(type(get_connection()), "send_messages", refuse)
        send_notices()
    assert "busy" in Notice.objects.get().last_error
    send_notices()
    assert mailoutbox == []
    noon.shift(timedelta(minutes=1))
    send_notices()
    assert len(mailoutbox) == 1


def test_a_webhook_gets_json_with_the_same_id_in_every_attempt(owner, hook, noon, mailoutbox):
    account_update(account=owner, webhook_url=HOOK)
    run = fail(owner)
    hook.broken = "hooks.example.org answered with status 503."
    send_notices()
    noon.shift(timedelta(minutes=1))
    hook.broken = ""
    send_notices()
    (url, first, headers), (_, second, _) = hook.calls
    assert (url, headers["Content-Type"]) == (HOOK, "application/json")
    assert first == second
    assert (first["kind"], first["run"], first["id"]) == ("failed_runs", str(run.pk), str(Notice.objects.get().pk))
    assert (Notice.objects.get().attempts, mailoutbox) == (2, [])


def test_pauses_grow_and_after_about_a_day_it_is_given_up(owner, hook, noon):
    account_update(account=owner, webhook_url=HOOK)
    fail(owner)
    hook.broken = "no answer"
    moments = []
    for _ in range(20):
        send_notices()
        notice = Notice.objects.get()
        if notice.next_attempt_at is None:
            break
        moments.append(notice.next_attempt_at - NOON)
        noon.move_to(notice.next_attempt_at)
    pauses = [later - sooner for sooner, later in zip([timedelta(0), *moments], moments, strict=False)]
    assert pauses == [min(timedelta(minutes=2**n), timedelta(hours=6)) for n in range(12)]
    assert timedelta(hours=24) < moments[-1] < timedelta(hours=30)
    assert (notice.attempts, notice.sent_at, notice.last_error) == (13, None, "no answer")


def test_a_dead_receiver_holds_up_nobody_else(owner, other_submitter, hook, mailoutbox):
    account_update(account=owner, webhook_url=HOOK)
    for number in range(3):
        fail(owner, str(number))
    hook.broken = "no answer"
    other_submitter.email_confirmed_at = NOON
    other_submitter.save()
    account_update(account=other_submitter, notices=ALL, now=NOON - timedelta(hours=1))
    fail(other_submitter)
    send_notices()
    assert len(hook.calls) == 1, "one attempt a round"
    assert len(mailoutbox) == 1


def test_two_senders_send_once(owner, mailoutbox):
    fail(owner)
    notices_collect(now=NOON)
    notice = Notice.objects.get()
    assert services._claimed(notice, NOON)
    assert not services._claimed(notice, NOON)
    assert notices_send_due(now=NOON) == 0
    assert notices_send_due(now=NOON + timedelta(minutes=6)) == 1, "a sender that was killed leaves it due"


def test_what_is_switched_off_meanwhile_is_not_sent(owner, mailoutbox):
    fail(owner)
    notices_collect(now=NOON)
    account_update(account=owner, notices={"failed_runs": False})
    notices_send_due(now=NOON)
    assert mailoutbox == []
    assert Notice.objects.get().last_error == "not wanted any more"


def test_a_closed_account_is_told_nothing(owner, mailoutbox):
    fail(owner)
    notices_collect(now=NOON)
    owner.is_active = False
    owner.save()
    assert notices_send_due(now=NOON) == 0
    assert mailoutbox == []


def test_a_test_is_sent_though_all_is_off(submitter, mailoutbox):
    submitter.email_confirmed_at = NOON
    submitter.save()
    notice_test(account=submitter)
    notice_test(account=submitter)
    notices_send_due(now=NOON)
    assert [letter.subject for letter in mailoutbox] == ["A test"]


# What it is set by


def test_the_page_saves_what_is_wanted_and_shows_it(client, submitter):
    client.force_login(submitter)
    client.post(PAGE, {"failed_runs": "on", "webhook_url": HOOK})
    choices = SchedulingAccount.objects.get()
    assert choices.notices == {"failed_runs": True, "unmatched_workflows": False, "quiet_controllers": False}
    assert (choices.webhook_url, choices.notices_since) == (HOOK, NOON)
    page = read(client.get(PAGE))
    checked = [field["name"] for field in page.all("input") if "checked" in field]
    assert checked == ["failed_runs"]
    assert HOOK in page.values("value")
    assert page.faults == []


@pytest.mark.parametrize("url", ["http://example.org/", "https://example.org:8443/", "https://u:p@example.org/", "x"])
def test_a_webhook_that_can_not_be_called_is_refused_at_its_field(client, submitter, url):
    client.force_login(submitter)
    page = read(client.post(PAGE, {"failed_runs": "on", "webhook_url": url}))
    assert "id_webhook_url_error" in page.values("id")
    assert not SchedulingAccount.objects.exists()
    answer = key_client(submitter).patch("/api/v1/account", {"webhook_url": url})
    assert (answer.status_code, answer.json()["errors"][0]["attr"]) == (400, "webhook_url")


def test_the_api_sets_the_webhook_too(submitter):
    api = key_client(submitter)
    assert api.patch("/api/v1/account", {"webhook_url": HOOK, "notices": ALL}).json()["webhook_url"] == HOOK
    assert api.get("/api/v1/account").json()["notices"] == ALL
    assert api.patch("/api/v1/account", {"webhook_url": ""}).json()["webhook_url"] == ""


def test_the_page_says_how_each_notice_went(client, owner, hook, noon):
    client.force_login(owner)
    account_update(account=owner, webhook_url=HOOK)
    fail(owner)
    hook.broken = "hooks.example.org gave no answer."
    send_notices()
    assert "waiting1 attempt, next Thu 12:01. hooks.example.org gave no answer." in read(client.get(PAGE)).text
    hook.broken = ""
    noon.shift(timedelta(minutes=1))
    send_notices()
    assert "sentThu 12:01" in read(client.get(PAGE)).text


def test_a_test_can_be_asked_for_and_not_without_end(client, submitter, settings, noon):
    settings.THROTTLES = settings.THROTTLES | {"mail": 2}
    client.force_login(submitter)
    answers = []
    for _ in range(3):
        answers.append(client.post(f"{PAGE}test/", follow=True).text)
        noon.shift(timedelta(seconds=1))
    assert ["on its way" in text for text in answers] == [True, True, False]
    assert "too many tests" in answers[-1]
    assert Notice.objects.count() == 2


def test_nobody_elses_notices_are_shown(client, owner, other_submitter):
    fail(owner)
    notices_collect(now=NOON)
    client.force_login(other_submitter)
    assert "failed on box" not in client.get(PAGE).text


def test_the_page_asks_the_database_little(client, owner, django_assert_num_queries):
    client.force_login(owner)
    for number in range(5):
        fail(owner, str(number))
    notices_collect(now=NOON)
    with django_assert_num_queries(6):
        client.get(PAGE)
