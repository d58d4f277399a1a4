"""Embedded, a task's nudge needs no broker; in production it goes to Celery."""

from unittest.mock import patch

import pytest
from celery import Task
from django.core.management import call_command
from kombu.exceptions import OperationalError

from asyncenergy.celery import app
from bench.tasks import rebuild_board


def test_embedded_a_nudge_goes_nowhere_and_costs_nothing(settings):
    assert settings.EMBEDDED
    with patch.object(Task, "apply_async", autospec=True) as sent:
        rebuild_board.delay()
    sent.assert_not_called()


def test_in_production_a_nudge_is_sent(settings):
    settings.EMBEDDED = False
    with patch.object(Task, "apply_async", autospec=True) as sent:
        rebuild_board.delay()
    assert sent.call_count == 1


def test_without_a_broker_the_request_goes_on(settings, caplog):
    settings.EMBEDDED = False
    with patch.object(Task, "apply_async", autospec=True, side_effect=OperationalError("connection refused")):
        rebuild_board.delay()
    assert "was not sent: connection refused" in caplog.text


def test_every_periodic_task_exists():
    app.loader.import_default_modules()
    assert {entry["task"] for entry in app.conf.beat_schedule.values()} <= set(app.tasks)


@pytest.mark.django_db
def test_a_tick_does_the_work_that_celery_would(settings):
    with patch("bench.tasks.board_rebuild", autospec=True, return_value=0) as rebuilt:
        call_command("tick", "--once")
    assert rebuilt.call_count == 1
