"""The moderators' desk in the admin: what it shows, what it lets whom do, and that nothing measured can be typed."""

import re

import pytest
from django.urls import reverse

from bench import services
from bench.models import Alias, Decision, Run
from bench.selectors import BoardQuery, board_rows
from tests.bench.corpus import published, sent, sent_totals

pytestmark = pytest.mark.django_db
QUEUE = reverse("admin:bench_run_changelist")
WHY = {"reason_code": "implausible", "note": "Too good to be true."}


@pytest.fixture
def desk(client, maintainer):
    client.force_login(maintainer)
    return client


def page(run: Run) -> str:
    return reverse("admin:bench_run_change", args=[run.pk])


def decide(run: Run) -> str:
    return reverse("admin:bench_run_decide", args=[run.pk])


def status(run: Run) -> str:
    run.refresh_from_db()
    return run.status


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_the_queue_shows_held_runs_first_then_waiting_ones(desk, submitter, maintainer):
    shown = published(submitter, maintainer, model="model-shown")
    waits = sent(submitter, model="model-waits")
    held = sent(submitter, model="model-held", joules_per_item=1.0)
    text = desk.get(QUEUE).content.decode()
    assert in_order(text, "model-held", "model-waits", "model-shown")
    assert "recomputed_differs" in text
    assert {status(run) for run in (shown, waits, held)} == {"published", "pending", "quarantined"}


def test_the_queue_takes_a_fixed_number_of_queries(desk, submitter, django_assert_num_queries):
    for i in range(5):
        sent(submitter, max_tokens=100 + i)
    with django_assert_num_queries(11):
        assert desk.get(QUEUE).status_code == 200


def test_the_desk_shows_everything_a_decision_needs_in_its_order(desk, submitter, other_submitter, maintainer):
    published(other_submitter, maintainer, node_hash="b" * 64)
    run = sent(submitter, joules_per_correct_answer=92.12, measurement_tier="A")
    text = desk.get(page(run)).content.decode()
    assert in_order(
        text,
        "Why it waits for you",
        "Claimed and recomputed",
        "Three readings",
        "Power over time",
        "The same configuration elsewhere",
    )
    assert "claimed 92.12 J, recomputed" in text
    assert "derived C, claimed A" in text
    assert "this run, claimed" in text
    assert re.search(r"machine [0-9a-f]{8}, 1 submission so far, 0 published", text)
    assert "quarantined by a rule" in text
    assert '<polyline class="power" points="0.0,' in text


def test_the_desk_takes_a_fixed_number_of_queries(desk, submitter, maintainer, django_assert_num_queries):
    for _ in range(4):
        published(submitter, maintainer)
    run = sent(submitter)
    desk.get(page(run))  # the first page of a process also asks for its content type
    with django_assert_num_queries(10):
        assert desk.get(page(run)).status_code == 200


def test_a_run_that_came_as_totals_has_a_desk_too(desk, submitter):
    text = desk.get(page(sent_totals(submitter))).content.decode()
    assert "No power samples" in text


@pytest.mark.parametrize("where", ["queue", "desk"])
def test_the_pages_keep_to_the_content_security_policy(desk, submitter, where):
    run = sent(submitter, joules_per_item=1.0)
    text = desk.get(QUEUE if where == "queue" else page(run)).content.decode()
    assert " style=" not in text
    assert "<style" not in text
    assert not re.search(r"<script(?![^>]*\ssrc=)[^>]*>\s*[^\s<]", text)
    assert not re.search(r"\son[a-z]+=", text)


def test_no_measured_field_is_a_form_field(desk, submitter):
    text = desk.get(page(sent(submitter))).content.decode()
    names = set(re.findall(r'<(?:input|select|textarea)[^>]*\sname="([^"]+)"', text))
    assert names - {"csrfmiddlewaretoken", "q"} == {"decision", "reason_code", "note"}


def test_a_posted_figure_changes_nothing(desk, submitter):
    run = sent(submitter)
    before = Run.objects.filter(pk=run.pk).values().get()
    assert desk.post(page(run), {"energy_j": "1", "status": "published"}).status_code == 403
    assert Run.objects.filter(pk=run.pk).values().get() == before


def test_a_maintainer_publishes_from_the_desk(desk, submitter, maintainer):
    run = sent(submitter)
    answer = desk.post(decide(run), {"decision": "publish", "reason_code": "checked", "note": ""})
    assert (answer.status_code, answer["Location"]) == (302, page(run))
    assert status(run) == "published"
    assert Decision.objects.get().by == maintainer


def test_hiding_without_a_reason_says_what_is_missing_and_changes_nothing(desk, submitter):
    run = sent(submitter)
    answer = desk.post(decide(run), {"decision": "reject", "reason_code": "faulty", "note": ""})
    assert answer.status_code == 400
    assert "the note stands in the public log" in answer.content.decode()
    assert status(run) == "pending"


def test_a_decision_that_leads_nowhere_is_not_offered(desk, submitter):
    run = sent(submitter)
    assert desk.post(decide(run), {"decision": "reinstate", **WHY}).status_code == 400
    assert status(run) == "pending"


def test_one_does_not_decide_on_ones_own(desk, maintainer):
    run = sent(maintainer)
    assert "another maintainer decides on it" in desk.get(page(run)).content.decode()
    answer = desk.post(decide(run), {"decision": "publish", "reason_code": "checked"}, follow=True)
    assert "Nobody decides on their own submission" in answer.content.decode()
    assert status(run) == "pending"


def test_looking_decides_nothing(desk, submitter):
    run = sent(submitter)
    assert desk.get(decide(run)).status_code == 405
    assert status(run) == "pending"


@pytest.mark.parametrize("person", ["stranger", "submitter"])
def test_the_desk_is_shut_to_others(client, submitter, person):
    run = sent(submitter)
    if person == "submitter":
        client.force_login(submitter)
    for answer in (client.get(QUEUE), client.get(page(run)), client.post(decide(run), {"decision": "publish", **WHY})):
        assert answer.status_code == 302
        assert "/admin/login/" in answer["Location"]
    assert status(run) == "pending"


def test_staff_who_may_only_look_decide_nothing(client, submitter, maintainer):
    permissions = maintainer.groups.get().permissions
    permissions.remove(permissions.get(codename="moderate_run"))
    client.force_login(maintainer)
    run = sent(submitter)
    text = client.get(page(run)).content.decode()
    assert "Record the decision" not in text
    assert client.post(decide(run), {"decision": "publish", "reason_code": "checked"}).status_code == 403
    assert "Publish selected runs" not in client.get(QUEUE).content.decode()
    assert status(run) == "pending"


def test_selected_runs_are_decided_after_one_question_and_the_rest_say_why(desk, submitter, maintainer):
    runs = [sent(submitter), sent(submitter), published(submitter, maintainer)]
    selected = {"action": "publish_selected", "_selected_action": [str(run.pk) for run in runs]}
    asked = desk.post(QUEUE, selected)
    assert "Decide on 3 runs" in asked.content.decode()
    assert [status(run) for run in runs] == ["pending", "pending", "published"]
    answer = desk.post(QUEUE, {**selected, "decision": "publish", "reason_code": "checked"}, follow=True)
    text = answer.content.decode()
    assert "2 runs published" in text
    assert "Not published" in text
    assert "from there it can’t" in text.replace("&#x27;", "’")
    assert [status(run) for run in runs] == ["published"] * 3


def test_a_bulk_decision_without_its_reason_asks_again(desk, submitter):
    run = sent(submitter)
    selected = {"action": "withdraw_selected", "_selected_action": [str(run.pk)]}
    answer = desk.post(QUEUE, {**selected, "decision": "withdraw", "reason_code": "faulty", "note": ""})
    assert answer.status_code == 400
    assert status(run) == "pending"


@pytest.mark.parametrize("model", ["run", "submission", "node", "decision", "alias"])
def test_nothing_is_deleted(desk, submitter, maintainer, model):
    run = published(submitter, maintainer)
    Alias.objects.create(kind="model", raw="a", name="a")
    objects = {
        "run": run.pk,
        "submission": run.submission_id,
        "node": run.node_id,
        "decision": Decision.objects.get().pk,
        "alias": Alias.objects.get().pk,
    }
    assert desk.get(reverse(f"admin:bench_{model}_changelist")).status_code == 200
    assert desk.get(reverse(f"admin:bench_{model}_change", args=[objects[model]])).status_code == 200
    delete = reverse(f"admin:bench_{model}_delete", args=[objects[model]])
    assert desk.post(delete, {"post": "yes"}).status_code == 403
    assert "delete_selected" not in desk.get(reverse(f"admin:bench_{model}_changelist")).content.decode()


def test_an_alias_renames_what_is_there_and_keeps_who_did_it(desk, submitter, maintainer):
    run = published(submitter, maintainer, gpu_name="rtx3090")
    other = published(submitter, maintainer)
    services.board_rebuild()
    desk.post(reverse("admin:bench_alias_add"), {"kind": "gpu", "raw": "rtx3090", "name": "RTX 3090"})
    run.refresh_from_db()
    assert (run.gpu_class, run.config_key) == ("RTX 3090", other.config_key)
    alias = Alias.objects.get()
    assert alias.history.get().history_user == maintainer
    services.board_rebuild()
    (row,) = board_rows(BoardQuery())
    assert (row["gpu_class"], row["n_runs"]) == ("RTX 3090", 2)


def test_a_new_name_shows_first_what_it_would_merge(desk, submitter, maintainer):
    published(submitter, maintainer, gpu_name="rtx3090")
    published(submitter, maintainer, gpu_name="rtx3090", task="arith")
    published(submitter, maintainer)
    services.board_rebuild()
    asked = {"kind": "gpu", "raw": "rtx3090", "name": "RTX 3090", "_preview": "1"}
    text = desk.post(reverse("admin:bench_alias_add"), asked).content.decode()
    assert "a row of 1 run at" in text
    assert "nothing: it becomes a row of its own" in text
    assert not Alias.objects.exists()
    del asked["_preview"]
    desk.post(reverse("admin:bench_alias_add"), {**asked, "_save": "1"})
    assert Alias.objects.get().name == "RTX 3090"
    change = reverse("admin:bench_alias_change", args=[Alias.objects.get().pk])
    text = desk.post(change, {"name": "RTX 3090 Ti", "_preview": "1"}).content.decode()
    assert "would be shown as RTX 3090 Ti" in text


def test_a_preview_of_a_form_with_faults_shows_the_faults(desk):
    answer = desk.post(reverse("admin:bench_alias_add"), {"kind": "gpu", "raw": "", "name": "x", "_preview": "1"})
    assert "This field is required" in answer.content.decode()


def test_the_desk_draws_every_item_and_shows_the_configurations_rows(desk, submitter, maintainer):
    published(submitter, maintainer, task="arith")
    run = sent(submitter)
    services.board_rebuild()
    text = desk.get(page(run)).content.decode()
    assert text.count('<rect class="right"') == text.count('<rect class="wrong"') == 6
    assert "Energy of each item" in text
    assert "This configuration on the board" in text
    assert ">arith</a>" in text


def test_a_run_of_totals_has_no_item_chart(desk, submitter):
    text = desk.get(page(sent_totals(submitter))).content.decode()
    assert "No item has an energy" in text


def test_a_machine_is_counted_or_not_by_a_person(desk, submitter, maintainer):
    run = published(submitter, maintainer)
    selected = {"action": "discount_selected", "_selected_action": [str(run.node_id)]}
    desk.post(reverse("admin:bench_node_changelist"), selected)
    run.node.refresh_from_db()
    assert not run.node.is_counted
