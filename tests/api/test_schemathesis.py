"""The served OpenAPI schema against the server itself: no 5xx, and no answer that the schema does not describe."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core import signals
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import (
    FailureGroup,
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.services import api_key_create
from bench import services
from bench.services import corpus
from scheduling.services import account_plan, runs_ingest, workflow_create
from tests.api.routes import RUN
from tests.bench.corpus import published, sent, sent_totals
from tests.bench.test_api_aggregates import capped

pytestmark = pytest.mark.django_db
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FEW, MANY = 4, 30


@pytest.fixture
def schema(monkeypatch) -> Iterator[Any]:
    """What is served; the connection of the test stays open between requests."""
    logging.disable()
    for signal in (signals.request_started, signals.request_finished):
        signal.disconnect(close_old_connections)
    yield schemathesis.openapi.from_wsgi("/openapi.json", get_wsgi_application())
    for signal in (signals.request_started, signals.request_finished):
        signal.connect(close_old_connections)
    logging.disable(logging.NOTSET)


@pytest.fixture
def full(settings, tmp_path, submitter, maintainer) -> dict[str, Any]:
    """A board of several rows, a run that waits, a download, work and its plan; and what addresses are filled with."""
    settings.VAR_DIR = tmp_path
    runs = [published(submitter, maintainer, watts=watts, **capped(watts)) for watts in (350.0, 300.0)]
    services.run_publish(run=sent_totals(submitter), by=maintainer)
    sent(submitter)
    services.board_rebuild()
    corpus.corpus_release_make()
    run = runs[0]
    work = workflow_create(
        account=submitter,
        name="nightly",
        framework="command",
        deadline="by 7am",
        recurrence="daily",
        est_duration_s=3600.0,
        nameplate_watts=300.0,
    )
    plan = account_plan(account=submitter)
    assert plan is not None
    runs_ingest(account=submitter, body=RUN)
    return {
        "workflow_id": str(work.pk),
        "number": plan.number,
        "controller_id": RUN["controller_id"],
        "run_id": str(run.pk),
        "submission_id": str(run.submission_id),
        "config_key": run.config_key,
        "node_hash": run.node.node_hash,
    }  # files are fetched elsewhere: the client here never closes them


def ask_everything(schema: Any, *, headers: dict[str, str], known: dict[str, Any], examples: int) -> int:
    """Ask each operation some questions; returns how many operations there are."""
    asked = 0
    for found in schema.get_all_operations():
        _ask(found.ok(), headers, known, examples)
        asked += 1
    return asked


def _ask(operation: Any, headers: dict[str, str], known: dict[str, Any], examples: int) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        case.path_parameters = {**case.path_parameters, **{n: v for n, v in known.items() if n in case.path_parameters}}
        with transaction.atomic():
            case.call_and_validate(headers=headers, checks=CHECKS)
            transaction.set_rollback(True)

    ask()


def key_of(account: Any) -> dict[str, str]:
    _, secret = api_key_create(user=account, name="box", scope="all")
    return {"x-api-key": secret}


@pytest.mark.campaign
def test_an_empty_database_gives_described_answers(schema, submitter):
    assert ask_everything(schema, headers=key_of(submitter), known={}, examples=FEW) > 50


@pytest.mark.campaign
def test_a_full_database_gives_described_answers(schema, submitter, full):
    assert ask_everything(schema, headers=key_of(submitter), known=full, examples=FEW) > 50


@pytest.mark.slow
@pytest.mark.parametrize("is_full", [False, True])
def test_many_questions_give_described_answers(schema, submitter, request, is_full):
    known = request.getfixturevalue("full") if is_full else {}
    for headers in ({}, key_of(submitter)):
        ask_everything(schema, headers=headers, known=known, examples=MANY)


@pytest.mark.campaign
def test_the_checks_can_fail(schema, full, monkeypatch):
    """A row with a field of another kind than the schema says is noticed."""
    monkeypatch.setattr("bench.selectors.answers.board_facets", lambda: _answer({"task": "no list"}))
    operation = schema["/api/v1/bench/facets"]["GET"]
    with pytest.raises(FailureGroup) as caught:
        operation.Case().call_and_validate(checks=CHECKS)
    assert "violates schema" in str(caught.value.exceptions[0])


def _answer(body: dict[str, Any]) -> Any:
    from bench.selectors.answers import Answer

    return Answer(json.dumps(body).encode())
