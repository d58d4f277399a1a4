"""Puts the loop together for one box, and takes it apart in good order."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from asyncenergy_controller import clock
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.files import lock
from asyncenergy_controller.identity import controller_id, machine_salt
from asyncenergy_controller.jobs.catalog import CatalogFile
from asyncenergy_controller.loop.daemon import Daemon
from asyncenergy_controller.loop.history import History
from asyncenergy_controller.loop.kept import KeptSchedule
from asyncenergy_controller.loop.polling import Poller
from asyncenergy_controller.loop.recovery import forget_old, recover
from asyncenergy_controller.loop.reports import Reports
from asyncenergy_controller.loop.running import Runner
from asyncenergy_controller.loop.sending import Sender
from asyncenergy_controller.reporting import open_spool
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings

LOCK = "loop.lock"


class AlreadyRunning(ControllerError):
    """Another loop works with this state folder; two would run everything twice."""


@contextmanager
def assembled(settings: Settings, *, watch_catalog: bool = False) -> Iterator[Daemon]:
    """A loop that is ready to run, with what an earlier one left behind settled. Raises AlreadyRunning."""
    settings.state_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        _hold(settings, stack)
        box = controller_id(settings)
        client = stack.enter_context(ServerClient(settings, attempts=1))
        history = History(settings.history_path)
        stack.callback(history.close)
        spool = open_spool(settings)
        sender = Sender(spool, client)
        reports = Reports(spool, box, sender.news)
        recover(settings, history, reports)
        forget_old(settings, history, clock.now())
        sender.start()
        stack.callback(sender.finish)
        poller = Poller(
            client,
            KeptSchedule(settings.state_dir, whose=[settings.api_url, box]),
            controller_id=box,
            interval_s=settings.poll_interval_s,
        )
        yield Daemon(
            poller=poller,
            catalog=CatalogFile(settings.job_catalog),
            history=history,
            runner=Runner(settings, client, history, reports),
            reports=reports,
            spool=spool,
            sender=sender,
            salt=machine_salt(settings.config_dir),
            state_dir=settings.state_dir,
            watch_catalog=watch_catalog,
        )


def _hold(settings: Settings, stack: ExitStack) -> None:
    """The lock goes with the process, however that ends."""
    path = settings.state_dir / LOCK
    held = lock(path)
    if held is None:
        raise AlreadyRunning(
            f"Another controller works with {settings.state_dir} (it holds {path.name}). Two would run everything "
            "twice: stop that one, or choose another ASYNCENERGY_STATE_DIR for another account."
        )
    stack.callback(held.close)
