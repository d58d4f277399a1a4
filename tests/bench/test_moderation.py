"""Who decides what, why it must be said, and what stays in the log."""

import pytest

from bench import selectors, services
from bench.errors import AlreadyDecided, NotAllowed, OnlyInDemo, ReasonMissing, ReasonUnknown
from bench.models import Decision, DirtyMark, Run
from tests.bench.corpus import published, sent
from tests.people import make_maintainer

pytestmark = pytest.mark.django_db
WHY = {"reason_code": "implausible", "note": "300 W on a card that draws 70 W at most."}


@pytest.fixture
def waiting(submitter) -> Run:
    return sent(submitter)


def status(run: Run) -> str:
    run.refresh_from_db()
    return run.status


def test_a_maintainer_publishes_and_the_log_says_so_without_naming_anybody(waiting, maintainer, submitter):
    decision = services.run_publish(run=waiting, by=maintainer, note="Looks right.")
    assert status(waiting) == "published"
    assert waiting.submission.status == "published"
    (entry,) = selectors.moderation_log()
    assert (entry["action"], entry["reason_code"], entry["note"]) == ("publish", "checked", "Looks right.")
    assert entry["decider"] == "a maintainer"
    assert decision.by == maintainer
    assert maintainer.email not in str(entry)
    assert submitter.email not in str(entry)


@pytest.mark.parametrize("decide", [services.run_publish, services.run_reject, services.run_withdraw])
def test_a_submitter_decides_nothing(waiting, submitter, other_submitter, decide):
    for person in (submitter, other_submitter):
        with pytest.raises(NotAllowed):
            decide(run=waiting, by=person, **WHY)
    assert status(waiting) == "pending"
    assert not Decision.objects.exists()


def test_nobody_decides_their_own_submission(maintainer):
    own = sent(maintainer)
    with pytest.raises(NotAllowed) as refused:
        services.run_publish(run=own, by=maintainer)
    assert refused.value.code == "own_submission"
    services.run_publish(run=own, by=make_maintainer("second@example.org"))
    assert status(own) == "published"


@pytest.mark.parametrize("decide", [services.run_reject, services.run_withdraw])
def test_hiding_needs_a_reason(waiting, maintainer, decide):
    with pytest.raises(ReasonMissing):
        decide(run=waiting, by=maintainer, reason_code="faulty", note="  ")
    assert status(waiting) == "pending"


@pytest.mark.parametrize("code", ["", "because", "reference", "submitter"])
def test_a_reason_is_one_of_the_list(waiting, maintainer, code):
    with pytest.raises(ReasonUnknown):
        services.run_publish(run=waiting, by=maintainer, reason_code=code)


def test_a_run_is_published_once(waiting, maintainer):
    services.run_publish(run=waiting, by=maintainer)
    with pytest.raises(AlreadyDecided):
        services.run_publish(run=waiting, by=maintainer)
    assert Decision.objects.count() == 1


def test_a_hidden_run_can_be_taken_up_again(waiting, maintainer):
    services.run_reject(run=waiting, by=maintainer, **WHY)
    assert status(waiting) == "rejected"
    services.run_reinstate(run=waiting, by=maintainer)
    assert status(waiting) == "pending"
    services.run_publish(run=waiting, by=maintainer)
    assert [d.action for d in waiting.decisions.order_by("at", "pk")] == ["reject", "reinstate", "publish"]


def test_a_run_that_a_gate_held_is_held_again(submitter, maintainer):
    held = sent(submitter, joules_per_item=1.0)
    services.run_reject(run=held, by=maintainer, **WHY)
    services.run_reinstate(run=held, by=maintainer)
    assert status(held) == "quarantined"


def test_an_owner_withdraws_their_own_and_it_stays_withdrawn(submitter, other_submitter, maintainer):
    run = published(submitter, maintainer)
    with pytest.raises(NotAllowed):
        services.submission_withdraw(submission=run.submission, by=other_submitter)
    services.submission_withdraw(submission=run.submission, by=submitter)
    services.submission_withdraw(submission=run.submission, by=submitter)
    assert status(run) == "withdrawn"
    assert selectors.run_detail(run.pk) is None
    with pytest.raises(AlreadyDecided):
        services.run_reinstate(run=run, by=maintainer)
    assert selectors.moderation_log()[0]["decider"] == "the submitter"
    assert Decision.objects.filter(action="withdraw").count() == 1


def test_an_owners_withdrawal_counts_also_after_a_maintainers_and_is_logged_once(submitter, maintainer):
    run = published(submitter, maintainer)
    services.run_withdraw(run=run, by=maintainer, **WHY)
    for _ in range(2):
        services.submission_withdraw(submission=run.submission, by=submitter)
    own = Decision.objects.filter(run=run, reason_code="submitter")
    assert [(decision.from_status, decision.to_status) for decision in own] == [("withdrawn", "withdrawn")]
    with pytest.raises(AlreadyDecided) as refused:
        services.run_reinstate(run=run, by=maintainer)
    assert refused.value.code == "withdrawn_by_owner"


def test_a_maintainer_withdraws_a_run_once(waiting, submitter, maintainer):
    services.run_withdraw(run=waiting, by=maintainer, **WHY)
    with pytest.raises(AlreadyDecided):
        services.run_withdraw(run=waiting, by=maintainer, **WHY)
    assert Decision.objects.count() == 1


def test_a_withdrawn_run_does_not_come_back_by_sending_it_again(submitter, maintainer):
    run = sent(submitter)
    services.submission_withdraw(submission=run.submission, by=submitter)
    again = services.submission_ingest(account=submitter, raw=run.submission.bundle())
    assert not again.created
    assert status(run) == "withdrawn"


def test_moderation_changes_no_measured_field(waiting, maintainer):
    before = Run.objects.filter(pk=waiting.pk).values().get()
    services.run_publish(run=waiting, by=maintainer)
    services.run_reject(run=waiting, by=maintainer, **WHY)
    after = Run.objects.filter(pk=waiting.pk).values().get()
    assert {name for name in before if before[name] != after[name]} == {"status", "decided_at"}


def test_several_runs_are_decided_at_once_and_those_that_cannot_say_why(submitter, maintainer):
    runs = [sent(submitter) for _ in range(3)]
    own = sent(maintainer, node_hash="b" * 64)
    services.run_publish(run=runs[0], by=maintainer)
    outcome = services.runs_decide(
        run_ids=[run.pk for run in (*runs, own)], action="publish", by=maintainer, reason_code="checked", note=""
    )
    assert {decision.run_id for decision in outcome.decisions} == {runs[1].pk, runs[2].pk}
    assert {run.pk: error.code for run, error in outcome.refused} == {
        runs[0].pk: "already_decided",
        own.pk: "own_submission",
    }


def test_only_what_was_or_becomes_public_marks_the_board(waiting, maintainer):
    services.run_reject(run=waiting, by=maintainer, **WHY)
    assert not DirtyMark.objects.exists()
    services.run_reinstate(run=waiting, by=maintainer)
    services.run_publish(run=waiting, by=maintainer)
    services.run_withdraw(run=waiting, by=maintainer, **WHY)
    assert DirtyMark.objects.count() == 2


def test_decisions_on_many_runs_take_a_fixed_number_of_queries(submitter, maintainer, django_assert_num_queries):
    runs = [sent(submitter) for _ in range(6)]
    maintainer.has_perm("bench.moderate_run")  # fetched once a request
    with django_assert_num_queries(11):
        services.runs_decide(
            run_ids=[run.pk for run in runs], action="publish", by=maintainer, reason_code="checked", note=""
        )


def test_a_demonstration_publishes_without_a_maintainer_and_nobody_else_does(waiting, settings):
    with pytest.raises(OnlyInDemo):
        services.submission_publish_demo(submission=waiting.submission)
    settings.DEMO = True
    services.submission_publish_demo(submission=waiting.submission)
    assert status(waiting) == "published"
    assert selectors.moderation_log()[0]["decider"] == "demonstration"


def test_what_waits_is_seen_by_its_owner_and_by_maintainers_only(waiting, submitter, other_submitter, maintainer):
    assert selectors.run_detail(waiting.pk) is None
    assert selectors.run_detail(waiting.pk, viewer=other_submitter) is None
    for person in (submitter, maintainer):
        detail = selectors.run_detail(waiting.pk, viewer=person)
        assert detail is not None
        assert detail.status == "pending"
