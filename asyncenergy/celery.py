"""Work outside requests.

Every task finds its own work in the database: dirty marks, due plans, retries. `delay()` is therefore only a nudge.
Embedded, there is no broker and the nudge goes nowhere: `manage.py tick` does the due work within seconds.
"""

import os
from typing import Any

from celery import Celery, Task
from celery.result import AsyncResult
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "asyncenergy.settings")


class DueTask(Task):  # type: ignore[type-arg]  # Celery's Task is generic in its stubs only
    """A task that may be skipped now, because whoever looks next finds the same work due."""

    def apply_async(self, *args: Any, **options: Any) -> AsyncResult:  # type: ignore[type-arg]  # as above
        if settings.EMBEDDED:
            return self.AsyncResult(options.get("task_id") or "not-sent")
        return super().apply_async(*args, **options)


app = Celery("asyncenergy", task_cls=DueTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.conf.beat_schedule = {
    # every 15 s: rows of the board that a decision or a submission has made dirty
    "board": {"task": "bench.rebuild_board", "schedule": 15.0},
}
app.conf.beat_schedule = {
    # every 15 s: rows of the board that a decision has made stale
    "rebuild-board": {"task": "bench.rebuild_board", "schedule": 15.0},
}
