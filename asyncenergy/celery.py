"""Work outside requests.

Every task finds its own work in the database: dirty marks, due plans, retries. `delay()` is therefore only a nudge.
Embedded, there is no broker and the nudge goes nowhere: `manage.py tick` does the due work within seconds.
"""

import logging
import os
from typing import Any

from celery import Celery, Task
from celery.result import AsyncResult
from django.conf import settings
from kombu.exceptions import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")

logger = logging.getLogger(__name__)


class DueTask(Task):  # type: ignore[type-arg]  # Celery's Task is generic in its stubs only
    """A task that may be skipped now, because whoever looks next finds the same work due."""

    def apply_async(self, *args: Any, **options: Any) -> AsyncResult:  # type: ignore[type-arg]  # as above
        if not settings.EMBEDDED:
            try:
                return super().apply_async(*args, **options)
            except OperationalError as error:  # the beat finds the work again within seconds
                logger.error("The nudge for %s was not sent: %s", self.name, error)
        return self.AsyncResult("not-sent")


app = Celery("asyncenergy", task_cls=DueTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # every 15 s: rows of the board that a decision has made stale
    "rebuild-board": {"task": "bench.rebuild_board", "schedule": 15.0},
    # every 10 min: a download of the corpus, where the last one is an hour old and the board has moved on
    "release-corpus": {"task": "bench.release_corpus", "schedule": 600.0},
    # every minute: sources of prices whose time has come; most minutes none has
    "fetch-prices": {"task": "scheduling.fetch_prices", "schedule": 60.0},
    # every 15 s: runs and deadlines that are over leave the schedules
    "close-work-over": {"task": "scheduling.close_work_over", "schedule": 15.0},
    # every 15 s: accounts whose plan is due, each once by its claim
    "plan-due": {"task": "scheduling.plan_due", "schedule": 15.0},
    # every 30 s: figures of runs that got samples
    "roll-up-runs": {"task": "scheduling.roll_up_runs", "schedule": 30.0},
    # every minute: what accounts want to be told, once an event, again where it did not arrive
    "send-notices": {"task": "scheduling.send_notices", "schedule": 60.0},
    # every 5 min: savings whose prices are published by now
    "settle-savings": {"task": "scheduling.settle_savings", "schedule": 300.0},
}
