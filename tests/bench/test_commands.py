"""What runs outside requests: reference data, the demonstration's publishing, the ticker."""

import gzip
import json
import logging
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError

from accounts.models import User
from bench import selectors, services
from bench.errors import AnotherAccount
from bench.models import BoardRow, Decision, Node, Run, Submission
from bench.services.reference import REFERENCE_EMAIL, reference_load
from tests.bench.corpus import published, sent
from tests.people import make_user
from tests.wire.bundles import make_bundle, make_run

N_RECORDED, N_CAMPAIGN = 6, 16  # runs in the two reference bundles

pytestmark = pytest.mark.django_db


def output(*command: str) -> str:
    out = StringIO()
    call_command(*command, stdout=out)
    return out.getvalue()


def test_reference_runs_are_loaded_and_published_with_a_line_in_the_log():
    text = output("load_reference")
    assert "6 runs, 6 published now, 0 held" in text
    rows = {
        (row["task"], row["quantization"], row["concurrency"]): row
        for row in selectors.board_rows(selectors.BoardQuery())
    }
    headlines = [rows["arith_recorded", "bfloat16", n]["joules_per_correct_answer"] for n in (1, 16)]
    assert [round(headline, 1) for headline in headlines] == [834.1, 133.9]
    assert rows["gsm8k", "bfloat16", 1]["joules_per_correct_answer"] is None
    assert {entry["decider"] for entry in selectors.moderation_log()} == {"maintainers (reference data)"}
    assert {entry["reason_code"] for entry in selectors.moderation_log()} == {"reference"}


def test_zero_correct_rows_sort_last():
    output("load_reference")
    headlines = [row["joules_per_correct_answer"] for row in selectors.board_rows(selectors.BoardQuery())]
    known = [headline for headline in headlines if headline is not None]
    assert len(known) > 2
    assert headlines == [*sorted(known), *[None] * (len(headlines) - len(known))]
    assert None in headlines


def test_loading_again_changes_nothing():
    output("load_reference")
    before = (Submission.objects.count(), Run.objects.count(), Decision.objects.count(), selectors.data_version())
    assert "0 published now" in output("load_reference")
    after = (Submission.objects.count(), Run.objects.count(), Decision.objects.count(), selectors.data_version())
    assert after == before
    assert before[1:3] == (N_RECORDED + N_CAMPAIGN, N_RECORDED + N_CAMPAIGN)


def test_the_reference_machine_is_called_h_and_its_account_is_shut():
    reference_load()
    node = Node.objects.get()
    assert (node.public_id, node.is_reference) == ("H", True)
    account = User.objects.get(email=REFERENCE_EMAIL)
    assert not account.is_active
    assert not account.has_usable_password()


def test_somebody_elses_account_is_never_taken_for_the_references():
    make_user(REFERENCE_EMAIL)
    with pytest.raises(AnotherAccount):
        reference_load()
    assert not Run.objects.exists()


def test_reference_runs_pass_the_same_gates(tmp_path):
    bundle = make_bundle(make_run(joules_per_correct_answer=1.0))
    (tmp_path / "wrong.json.gz").write_bytes(gzip.compress(json.dumps(bundle).encode()))
    (loaded,) = reference_load(folder=tmp_path)
    assert loaded.n_published == 0
    assert Run.objects.get().status == "quarantined"


def test_a_reference_run_that_was_hidden_stays_hidden(maintainer):
    reference_load()
    run = Run.objects.first()
    services.run_reject(run=run, by=maintainer, reason_code="faulty", note="The card was shared.")
    reference_load()
    run.refresh_from_db()
    assert run.status == "rejected"


def test_the_demonstration_publishes_its_run(submitter, settings):
    settings.DEMO = True
    run = sent(submitter)
    assert "Published 1 run" in output("publish", str(run.submission_id))
    assert BoardRow.objects.count() == 1


def test_elsewhere_the_command_refuses(submitter):
    run = sent(submitter)
    with pytest.raises(CommandError, match="DEMO=1"):
        output("publish", str(run.submission_id))
    run.refresh_from_db()
    assert run.status == "pending"


def test_publishing_what_is_not_there_says_so(settings):
    settings.DEMO = True
    with pytest.raises(CommandError, match="no submission"):
        output("publish", "11111111-1111-4111-8111-111111111111")


def test_one_tick_rebuilds_what_a_decision_made_stale(submitter, maintainer):
    published(submitter, maintainer)
    output("tick", "--once")
    assert BoardRow.objects.count() == 1


def test_a_tick_that_fails_is_logged_and_due_again(submitter, maintainer, monkeypatch, caplog):
    published(submitter, maintainer)

    def fail(**options):
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setattr("bench.tasks.board_rebuild", fail)
        output("tick", "--once")
    assert "database is locked" in caplog.text
    output("tick", "--once")
    assert BoardRow.objects.count() == 1
