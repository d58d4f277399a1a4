"""However the board came about, step by step or all at once, it is the same board."""

from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench import selectors, services
from bench.errors import BoardBusy
from bench.models import BoardConfig, BoardRow, BoardState, BoardSweep, Run, StoredAnswer
from bench.selectors import BoardQuery, answers
from bench.services import board
from tests.bench.corpus import sent, sent_totals
from tests.wire.bundles import make_items

pytestmark = pytest.mark.django_db

STEPS = st.lists(
    st.tuples(st.sampled_from(["publish", "withdraw", "reinstate", "rename", "rebuild"]), st.integers(0, 7))
)


def stored() -> dict[str, Any]:
    """Everything that a rebuild makes."""
    rows = BoardRow.objects.order_by("config_key", "task").values("config_key", "task", "place", "payload", "machines")
    return {
        "rows": list(rows),
        "configs": list(BoardConfig.objects.order_by("pk").values()),
        "sweeps": list(BoardSweep.objects.order_by("pk").values_list("payload", flat=True)),
    }


@pytest.fixture
def corpus(submitter, other_submitter) -> list[Run]:
    """Eight runs: a sweep over power limits, two machines, two tasks, two models, and totals of version 2."""
    many = {"n": 20, "items": make_items(20, right=10)}
    return [
        *(sent(submitter, power_limit_w=watts, gpu_stock_power_limit_w=350.0, **many) for watts in (350.0, 300.0)),
        *(sent(submitter, power_limit_w=watts, gpu_stock_power_limit_w=350.0, **many) for watts in (250.0, 200.0)),
        sent(other_submitter, node_hash="b" * 64, **many),
        sent(submitter, task="mmlu_redux"),
        sent(other_submitter, model="example-3B", node_hash="b" * 64),
        sent_totals(submitter, e_fixed_j=5.0, alpha_j_per_prompt_token=0.1, beta_j_per_completion_token=0.4),
    ]


def take(step: str, run: Run, by: Any) -> None:
    if step == "rebuild":
        services.board_rebuild()
    elif step == "rename":
        services.alias_set(kind="model", raw=run.facts["model"], name=f"Example {run.index}")
    else:
        services.runs_decide(run_ids=[run.pk], action=step, by=by, reason_code="checked", note="as asked")


@pytest.mark.campaign
@given(steps=STEPS)
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_increments_give_the_same_as_a_full_rebuild(corpus, maintainer, steps):
    with transaction.atomic():
        for step, i in [*(("publish", i) for i in range(len(corpus))), *steps, ("rebuild", 0)]:
            take(step, corpus[i], maintainer)
        increments = stored()
        for model in (BoardRow, BoardConfig, BoardSweep):
            model.objects.all().delete()
        services.board_rebuild(full=True)
        assert stored() == increments
        transaction.set_rollback(True)


def test_500_decisions_are_one_rebuild(submitter, maintainer, monkeypatch):
    first = sent(submitter)
    copies = [Run(**_copied(first, i)) for i in range(499)]
    Run.objects.bulk_create(copies)
    services.runs_decide(
        run_ids=[first.pk, *(run.pk for run in copies)], action="publish", by=maintainer, reason_code="checked", note=""
    )
    made = []
    real = board._aggregate
    monkeypatch.setattr(board, "_aggregate", lambda key: made.append(key) or real(key))
    assert services.board_rebuild() == 1
    assert made == [first.config_key]
    assert selectors.data_version() == "1"
    (row,) = selectors.board_rows(BoardQuery())
    assert row["n_runs"] == 500


def _copied(run: Run, i: int) -> dict[str, Any]:
    """The stored run again, as totals without columns."""
    left_out = {"id", "identity"}
    fields = {f.attname: getattr(run, f.attname) for f in Run._meta.concrete_fields if f.attname not in left_out}
    return {**fields, "identity": f"{i:064d}"}


def test_a_rebuild_that_was_overtaken_starts_again(submitter, maintainer, monkeypatch):
    services.run_publish(run=sent(submitter), by=maintainer)
    real = board._aggregate

    def overtaken(key):
        found = real(key)
        monkeypatch.setattr(board, "_aggregate", real)
        BoardState.objects.update_or_create(pk=1, defaults={"version": 7, "updated_at": run.received_at})
        return found

    run = Run.objects.get()
    monkeypatch.setattr(board, "_aggregate", overtaken)
    assert services.board_rebuild() == 1
    assert selectors.data_version() == "8"


def test_a_rebuild_that_is_overtaken_every_time_leaves_its_marks(submitter, maintainer, monkeypatch):
    services.run_publish(run=sent(submitter), by=maintainer)
    monkeypatch.setattr(board, "_replace", lambda *args: False)
    with pytest.raises(BoardBusy):
        services.board_rebuild()
    monkeypatch.undo()
    assert services.board_rebuild() == 1


def test_rows_of_an_earlier_program_are_made_anew(submitter, maintainer):
    services.run_publish(run=sent(submitter), by=maintainer)
    services.board_rebuild()
    BoardRow.objects.update(payload={"config_key": "what it was"})
    BoardConfig.objects.all().delete()
    BoardState.objects.update(shape=board.SHAPE - 1)
    assert (services.board_rebuild(), services.board_rebuild()) == (1, 0)
    (row,) = selectors.board_rows(BoardQuery())
    assert row["joules_per_correct_answer"] is not None


# Stored answers


def test_the_usual_answers_are_stored_and_equal_to_those_made_on_demand(corpus, maintainer, monkeypatch):
    for run in corpus:
        services.run_publish(run=run, by=maintainer)
    services.board_rebuild()
    ahead = {(one.name, one.query): (bytes(one.body), one.page) for one in StoredAnswer.objects.all()}
    assert ("leaderboard", "limit=100") in ahead
    assert ("leaderboard", "task=gsm8k&limit=100") in ahead
    assert ("recommend", "objective=speed&limit=50") in ahead
    StoredAnswer.objects.all().delete()
    monkeypatch.setattr(answers, "_memory", answers._Memory())
    for (name, query), (body, page) in ahead.items():
        made = on_demand(name, query)
        assert (made.body, made.page) == (body, page), (name, query)


def on_demand(name: str, query: str) -> answers.Answer:
    asked: dict[str, Any] = dict(parse_qsl(query))
    if name == "facets":
        return answers.board_facets()
    if name == "bench-data":
        return answers.snapshot()
    if name == "recommend":
        return answers.recommend(answers.Wish(**{**asked, "limit": int(asked["limit"])}))
    make = answers.leaderboard if name == "leaderboard" else answers.routing_table
    return make(BoardQuery(**{**asked, "limit": int(asked["limit"])}))


def test_memory_holds_so_many_bytes_of_one_board():
    memory = answers._Memory()
    large = answers.Answer(b"x" * (answers.MEMORY_BYTES // 2))
    for name in "abc":
        memory.put("first", (name, ""), large)
    assert [memory.get("first", (name, "")) is not None for name in "abc"] == [False, True, True]
    memory.put("second", ("d", ""), large)
    assert memory.get("first", ("c", "")) is None
    assert memory.get("second", ("c", "")) is None
    assert memory.get("second", ("d", "")) is large
