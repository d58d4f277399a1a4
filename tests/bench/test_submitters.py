"""Accounts that submit: one person counts once, one may be shut out, one may be deleted."""

import json

import pytest
from django.urls import reverse

from accounts.models import User
from bench import services
from bench.errors import AlreadyDecided, Banned, NotAllowed, ReasonMissing
from bench.models import Decision, Node, Run, RunColumns, Submission, Submitter
from bench.selectors import BoardQuery, board_rows, moderation_log, run_detail
from tests.bench.corpus import published, sent
from tests.people import api_client, make_user
from tests.wire.bundles import make_bundle

pytestmark = pytest.mark.django_db
NOTE = "Three machines that are one."


def row():
    services.board_rebuild()
    (found,) = board_rows(BoardQuery())
    return found


def merge(source: User, target: User, by: User) -> None:
    services.submitters_merge(source=source, target=target, by=by, note=NOTE)


# Merging


def test_two_accounts_of_one_person_count_once(submitter, other_submitter, maintainer):
    published(submitter, maintainer)
    published(other_submitter, maintainer, node_hash="b" * 64)
    assert row()["n_accounts"] == 2
    merge(other_submitter, submitter, maintainer)
    assert (row()["n_accounts"], row()["n_nodes"]) == (1, 2)
    services.submitter_part(account=other_submitter, by=maintainer)
    assert row()["n_accounts"] == 2


def test_a_machine_that_both_accounts_know_is_one_machine(submitter, other_submitter, maintainer):
    first = published(submitter, maintainer)
    held = sent(other_submitter)
    assert "node_seen_elsewhere" in [gate["code"] for gate in held.gates if gate["passed"] is False]
    services.run_publish(run=held, by=maintainer)
    assert row()["n_nodes"] == 2
    merge(other_submitter, submitter, maintainer)
    assert (row()["n_nodes"], row()["n_runs"]) == (1, 2)
    assert Node.objects.get(account=other_submitter).counted == first.node


def test_after_a_merger_the_machine_is_not_seen_elsewhere(submitter, other_submitter, maintainer):
    sent(submitter)
    merge(other_submitter, submitter, maintainer)
    gates = sent(other_submitter).gates
    assert "node_seen_elsewhere" not in [gate["code"] for gate in gates if gate["passed"] is False]


def test_mergers_do_not_chain(submitter, other_submitter, maintainer):
    third = make_user("third@example.org")
    merge(other_submitter, submitter, maintainer)
    merge(third, other_submitter, maintainer)
    assert Submitter.objects.get(account=third).counts_as == submitter
    merge(submitter, make_user("fourth@example.org"), maintainer)
    assert set(Submitter.objects.values_list("counts_as__email", flat=True)) == {"fourth@example.org"}


def test_nobody_decides_on_an_account_that_counts_as_theirs(submitter, maintainer, other_submitter):
    second = make_user("second@example.org")
    second.groups.add(maintainer.groups.get())
    merge(second, submitter, maintainer)
    run = sent(submitter)
    with pytest.raises(NotAllowed, match="own submission"):
        services.run_publish(run=run, by=second)
    with pytest.raises(NotAllowed):
        services.submitter_ban(account=submitter, by=second, note=NOTE)


def test_a_stranger_merges_and_bans_nobody(submitter, other_submitter):
    for step in (
        lambda: merge(other_submitter, submitter, submitter),
        lambda: services.submitter_ban(account=other_submitter, by=submitter, note=NOTE),
        lambda: services.submitter_lift_ban(account=other_submitter, by=submitter),
        lambda: services.submitter_part(account=other_submitter, by=submitter),
    ):
        with pytest.raises(NotAllowed):
            step()
    assert not Submitter.objects.exists()


# Banning


def test_a_banned_account_is_told_why_and_nothing_is_stored(submitter, maintainer):
    services.submitter_ban(account=submitter, by=maintainer, note="Invented traces.")
    with pytest.raises(Banned):
        sent(submitter)
    answer = api_client(submitter).generic(
        "POST", "/api/v1/bench/submissions", json.dumps(make_bundle()), content_type="application/json"
    )
    assert (answer.status_code, answer.json()["code"]) == (403, "banned")
    assert "Invented traces." in answer.json()["detail"]
    assert not Submission.objects.exists()
    services.submitter_lift_ban(account=submitter, by=maintainer)
    assert sent(submitter).status == "pending"


def test_a_ban_may_hide_what_was_sent_and_the_log_says_so(submitter, maintainer):
    runs = [published(submitter, maintainer), sent(submitter)]
    services.submitter_ban(account=submitter, by=maintainer, note="Invented traces.", hides_runs=True)
    assert set(Run.objects.values_list("status", flat=True)) == {"rejected"}
    services.board_rebuild()
    assert board_rows(BoardQuery()) == []
    hidden = [entry for entry in moderation_log() if entry["action"] == "reject"]
    assert {entry["run_id"] for entry in hidden} == {str(run.pk) for run in runs}
    assert submitter.email not in str(hidden)


def test_a_ban_needs_words(submitter, maintainer):
    with pytest.raises(ReasonMissing):
        services.submitter_ban(account=submitter, by=maintainer, note=" ")


# On the desk


@pytest.fixture
def desk(client, maintainer):
    client.force_login(maintainer)
    return client


LIST = reverse("admin:bench_submitteraccount_changelist")


def act(desk, action: str, *accounts: User, note: str | None = None):
    selected = {"action": action, "_selected_action": [str(account.pk) for account in accounts], "index": "0"}
    return desk.post(LIST, selected if note is None else {**selected, "note": note}, follow=True)


def test_the_desk_lists_who_submits_and_how_it_went(desk, submitter, other_submitter, maintainer):
    published(submitter, maintainer)
    text = desk.get(LIST).content.decode()
    assert submitter.email in text
    assert other_submitter.email not in text


def test_the_list_takes_a_fixed_number_of_queries(desk, submitter, maintainer, django_assert_num_queries):
    for account in (submitter, make_user("second@example.org"), make_user("third@example.org")):
        sent(account)
    with django_assert_num_queries(7):
        assert desk.get(LIST).status_code == 200


def test_the_desk_asks_for_words_and_then_merges_into_the_oldest(desk, submitter, other_submitter, maintainer):
    sent(submitter)
    sent(other_submitter)
    asked = act(desk, "merge_selected", submitter, other_submitter)
    assert "Count these accounts as the oldest" in asked.content.decode()
    assert not Submitter.objects.exists()
    act(desk, "merge_selected", submitter, other_submitter, note=NOTE)
    assert Submitter.objects.get(account=other_submitter).counts_as == submitter
    assert Submitter.history.get().history_user == maintainer
    act(desk, "part_selected", other_submitter, note="")
    assert Submitter.objects.get(account=other_submitter).counts_as is None


def test_a_merger_that_is_refused_is_reported_and_the_others_go_on(desk, submitter, other_submitter, maintainer):
    third = make_user("third@example.org")
    for account in (submitter, other_submitter, third):
        sent(account)
    merge(other_submitter, submitter, maintainer)
    text = act(desk, "merge_selected", submitter, other_submitter, third, note=NOTE).content.decode()
    assert Submitter.objects.get(account=third).counts_as == submitter
    assert "Not changed: other@example.org. They count as one already." in text
    assert "1 account changed." in text


@pytest.mark.parametrize("action", ["ban_selected", "ban_and_hide_selected", "lift_ban_selected", "part_selected"])
def test_an_own_account_in_a_selection_is_refused_and_the_others_go_on(desk, submitter, maintainer, action):
    sent(maintainer)
    sent(submitter)
    text = act(desk, action, maintainer, submitter, note=NOTE).content.decode()
    assert "Not changed: maintainer@example.org. Only maintainers decide this" in text
    assert "1 account changed." in text
    assert [found.account for found in Submitter.objects.all()] == [submitter]


def test_the_desk_bans_hides_and_lifts(desk, submitter):
    run = sent(submitter)
    assert "say why" in act(desk, "ban_selected", submitter, note="").content.decode()
    act(desk, "ban_and_hide_selected", submitter, note="Invented traces.")
    run.refresh_from_db()
    assert run.status == "rejected"
    act(desk, "lift_ban_selected", submitter, note="")
    assert Submitter.objects.get(account=submitter).banned_at is None


# Deleting an account


def test_a_deleted_account_may_leave_its_figures_without_a_link(submitter, maintainer):
    kept, waiting = published(submitter, maintainer), sent(submitter)
    node_hash, before = kept.node.node_hash, row()
    services.account_delete(account=submitter, keeps_figures=True)
    assert not User.objects.filter(email=submitter.email).exists()
    kept.refresh_from_db()
    waiting.refresh_from_db()
    assert (kept.status, waiting.status) == ("published", "withdrawn")
    assert not kept.account.is_active
    assert not kept.account.has_usable_password()
    assert {submission.bundle() for submission in Submission.objects.all()} == {b""}
    assert not Node.objects.filter(node_hash=node_hash).exists()
    assert row() == before
    assert run_detail(kept.pk).trace
    assert [columns.run_id for columns in RunColumns.objects.all()] == [kept.pk]


def test_a_deleted_account_may_take_its_figures_along(submitter, maintainer):
    run = published(submitter, maintainer)
    services.board_rebuild()
    services.account_delete(account=submitter, keeps_figures=False)
    services.board_rebuild()
    assert board_rows(BoardQuery()) == []
    assert run_detail(run.pk) is None
    assert not RunColumns.objects.exists()
    assert [entry["action"] for entry in moderation_log()] == ["withdraw", "publish"]


def test_an_account_that_is_gone_already_is_not_deleted_again(submitter, maintainer):
    twin = User.objects.get(pk=submitter.pk)
    for account in (submitter, twin):
        services.account_delete(account=account, keeps_figures=True)
    assert User.objects.exclude(pk=maintainer.pk).count() == 1


@pytest.mark.parametrize("keeps_figures", [True, False])
def test_what_a_maintainer_withdrew_stays_withdrawn_once_its_account_is_deleted(submitter, maintainer, keeps_figures):
    run = published(submitter, maintainer)
    services.run_withdraw(run=run, by=maintainer, reason_code="faulty", note=NOTE)
    services.account_delete(account=submitter, keeps_figures=keeps_figures)
    with pytest.raises(AlreadyDecided, match="stays withdrawn"):
        services.run_reinstate(run=run, by=maintainer)


def test_a_deleted_maintainer_leaves_decisions_without_a_name(submitter, maintainer):
    published(submitter, maintainer)
    services.account_delete(account=maintainer, keeps_figures=True)
    decision = Decision.objects.get()
    assert (decision.by, decision.decider) == (None, "a maintainer")


def test_who_signs_up_again_may_send_from_the_same_machine(submitter, maintainer):
    published(submitter, maintainer)
    services.account_delete(account=submitter, keeps_figures=True)
    again = make_user(submitter.email)
    assert sent(again).status == "pending"
