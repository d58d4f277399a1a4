"""Rows of the board: pooled, ranked, rebuilt by the worker, and read as they were made."""

import itertools

import pytest

from bench import selectors, services
from bench.models import BoardRow, DirtyMark
from bench.selectors import BoardQuery
from tests.bench.corpus import published, sent, sent_totals

pytestmark = pytest.mark.django_db


def rows(**query) -> list[dict]:
    services.board_rebuild()
    return selectors.board_rows(BoardQuery(**query))


def test_an_empty_board_is_an_empty_list():
    assert rows() == []
    assert selectors.board_facets()["task"] == []
    assert selectors.data_version() == "0"


def test_a_row_appears_with_the_rebuild_after_the_decision(submitter, maintainer):
    run = published(submitter, maintainer, watts=100.0)
    assert selectors.board_rows(BoardQuery()) == []
    (row,) = rows()
    assert row["joules_per_correct_answer"] == pytest.approx(1190 / 6)
    assert (row["run_id"], row["tier"], row["verified"], row["rank"]) == (str(run.pk), "C", True, 1)
    assert (row["accuracy"], row["n_items"], row["n_correct"]) == (0.5, 12, 6)
    assert (row["n_runs"], row["n_nodes"], row["n_unique_submitters"], row["n_accounts"]) == (1, 1, 1, 1)
    assert row["jpc_wide_low"] < row["jpc_ci_low"] < row["jpc_ci_high"] < row["jpc_wide_high"]


def test_a_withdrawn_run_takes_its_row_away(submitter, maintainer):
    run = published(submitter, maintainer)
    assert len(rows()) == 1
    services.submission_withdraw(submission=run.submission, by=submitter)
    assert rows() == []


def test_of_two_machines_the_worse_is_shown_and_the_spread_beside_it(submitter, other_submitter, maintainer):
    published(submitter, maintainer, watts=100.0)
    worse = published(other_submitter, maintainer, watts=122.0, node_hash="b" * 64)
    (row,) = rows()
    assert row["run_id"] == str(worse.pk)
    assert row["joules_per_correct_answer"] == pytest.approx(1.22 * 1190 / 6)
    assert (row["spread_min"], row["spread_max"]) == (row["jpc_min"], row["jpc_max"])
    assert row["jpc_min"] == pytest.approx(1190 / 6)
    assert "spread" in row["flags"]
    assert (row["n_nodes"], row["n_accounts"]) == (2, 2)


def test_a_second_machine_that_answers_the_same_items_is_no_new_evidence_of_accuracy(
    submitter, other_submitter, maintainer
):
    published(submitter, maintainer, right=6)
    published(other_submitter, maintainer, right=12, node_hash="b" * 64)
    (row,) = rows()
    assert (row["accuracy"], row["n_items"]) == (0.75, 12)


def test_ten_posts_of_one_machine_move_its_value_no_further_than_its_median(submitter, other_submitter, maintainer):
    published(other_submitter, maintainer, watts=100.0, node_hash="b" * 64)
    for i in range(5):
        published(submitter, maintainer, watts=100.5 + i / 10)
    (row,) = rows()
    assert row["jpc_max"] == pytest.approx(1.007 * 1190 / 6)
    assert row["n_runs"] == 6


def test_rows_without_an_interval_have_no_rank_and_rows_without_a_headline_stand_last(submitter, maintainer):
    published(submitter, maintainer, right=0, max_tokens=1)
    published(submitter, maintainer, n=9, right=3, max_tokens=2)
    published(submitter, maintainer, right=12, max_tokens=3)
    found = rows()
    assert [row["rank"] for row in found] == [1, None, None]
    assert [row["joules_per_correct_answer"] is None for row in found] == [False, False, True]


def test_every_sort_has_null_last(submitter, maintainer, subtests):
    published(submitter, maintainer, right=0, max_tokens=1)
    published(submitter, maintainer, right=12, max_tokens=3)
    published(submitter, maintainer, right=6, max_tokens=4)
    services.board_rebuild()
    for name, sign in itertools.product(selectors.SORTS, ("", "-")):
        with subtests.test(sort=sign + name):
            values = [row[name] for row in selectors.board_rows(BoardQuery(sort=sign + name))]
            known = [value for value in values if value is not None]
            assert values == sorted(known, reverse=sign == "-") + [None] * (len(values) - len(known))


def test_claimed_rows_stand_below_verified_ones_of_equal_rank(submitter, maintainer):
    totals = sent_totals(submitter, task="gsm8k", total_joules_gpu_best=8100.0, jpc_ci_low=50.0, jpc_ci_high=400.0)
    services.run_publish(run=totals, by=maintainer)
    published(submitter, maintainer, watts=100.0, right=6)
    verified, claimed = rows(task="gsm8k")
    assert claimed["joules_per_correct_answer"] == 100.0 < verified["joules_per_correct_answer"]
    assert verified["rank"] == claimed["rank"] == 1
    assert (verified["verified"], claimed["verified"], claimed["methodology_version"]) == (True, False, "v2-claimed")
    assert "not_rederivable" in claimed["flags"]


def test_calibration_canaries_and_other_methods_stay_off_the_board(submitter, maintainer):
    published(submitter, maintainer, suite="calibrate")
    published(submitter, maintainer, is_canary=True)
    published(submitter, maintainer, methodology_version="99")
    assert rows() == []


def test_simulated_runs_have_their_own_list_without_rank(submitter, maintainer, settings):
    settings.DEMO = True
    run = sent(submitter, energy_source="simulated")
    services.submission_publish_demo(submission=run.submission)
    assert rows() == []
    (row,) = selectors.simulated_rows(BoardQuery(task="gsm8k"))
    assert (row["run_id"], row["rank"], row["is_simulated"], row["tier"]) == (str(run.pk), None, True, None)
    assert selectors.simulated_rows(BoardQuery(task="arith")) == []


def test_nothing_simulated_is_shown_once_the_demonstration_is_over(submitter, settings):
    settings.DEMO = True
    run = sent(submitter, energy_source="simulated")
    services.submission_publish_demo(submission=run.submission)
    assert selectors.run_detail(run.pk) is not None
    settings.DEMO = False
    assert selectors.simulated_rows(BoardQuery()) == []
    assert selectors.run_detail(run.pk) is None


def test_a_full_rebuild_gives_the_same_as_the_increments(submitter, other_submitter, maintainer):
    for i in range(3):
        published(submitter, maintainer, max_tokens=100 + i)
        services.board_rebuild()
    published(other_submitter, maintainer, max_tokens=101, node_hash="b" * 64)
    withdrawn = published(submitter, maintainer, max_tokens=100, right=9)
    services.board_rebuild()
    services.submission_withdraw(submission=withdrawn.submission, by=submitter)
    increments = rows()
    BoardRow.objects.all().delete()
    services.board_rebuild(full=True)
    assert selectors.board_rows(BoardQuery()) == increments
    assert len(increments) == 3


def test_a_rebuild_without_work_changes_no_version(submitter, maintainer):
    published(submitter, maintainer)
    assert (services.board_rebuild(), services.board_rebuild()) == (1, 0)
    assert selectors.data_version() == "1"
    assert not DirtyMark.objects.exists()


def test_a_decision_during_a_rebuild_is_not_lost(submitter, maintainer, monkeypatch):
    first = published(submitter, maintainer)
    real = services.board._aggregate

    def withdraws_meanwhile(key):
        found = real(key)
        monkeypatch.setattr(services.board, "_aggregate", real)
        services.submission_withdraw(submission=first.submission, by=submitter)
        return found

    monkeypatch.setattr(services.board, "_aggregate", withdraws_meanwhile)
    services.board_rebuild()
    assert rows() == []


def test_filters_leave_what_matches_and_unknown_values_nothing(submitter, maintainer):
    published(submitter, maintainer)
    published(submitter, maintainer, task="arith", gpu_name="NVIDIA H200", engine="vLLM", quantization="bfloat16")
    assert [row["task"] for row in rows(gpu_class="H200")] == ["arith"]
    assert [row["task"] for row in rows(quant="Q4_K_M", engine="llama.cpp", tier="BC")] == ["gsm8k"]
    assert rows(gpu_class="RTX 9999") == []
    assert rows(tier="A") == []
    facets = selectors.board_facets()
    assert {"value": "H200", "count": 1} in facets["gpu_class"]


def test_reading_takes_one_query_however_many_rows(submitter, maintainer, django_assert_num_queries):
    for i in range(4):
        published(submitter, maintainer, max_tokens=100 + i)
    services.board_rebuild()
    with django_assert_num_queries(1):
        assert len(selectors.board_rows(BoardQuery())) == 4


def test_a_rebuild_takes_as_many_queries_for_five_runs_as_for_one(submitter, maintainer, django_assert_num_queries):
    for runs in (1, 4):
        for _ in range(runs):
            published(submitter, maintainer)
        services.board_rebuild(full=True)
        with django_assert_num_queries(29):
            services.board_rebuild(full=True)
