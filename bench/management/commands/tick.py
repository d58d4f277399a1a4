"""The worker of the embedded installation: no broker, no second program."""

import logging
import signal
from threading import Event
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, close_old_connections

from asyncenergy.celery import app
from asyncenergy.errors import AsyncEnergyError

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Do the work that is due, again and again: what Celery's beat and workers do in production."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--once", action="store_true", help="do what is due now, then end")
        parser.add_argument("--interval", type=float, default=15.0, metavar="SECONDS", help="pause between rounds")

    def handle(self, *args: Any, once: bool, interval: float, **options: Any) -> None:
        app.autodiscover_tasks(force=True)
        if once:
            do_due_work()
            return
        stop = Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        while not stop.is_set():
            do_due_work()
            close_old_connections()
            stop.wait(interval)


def do_due_work() -> None:
    """Run every periodic task once. One that fails is logged and due again in the next round."""
    for entry in app.conf.beat_schedule.values():
        try:
            app.tasks[entry["task"]]()
        except (AsyncEnergyError, DatabaseError, OSError):
            logger.exception("%s failed; it is tried again in the next round", entry["task"])
