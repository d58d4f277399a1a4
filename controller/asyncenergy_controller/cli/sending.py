"""Sends bundles and tells what the server said."""

from asyncenergy_controller.bench.store import RunDir
from asyncenergy_controller.bench.uploads import Upload, Uploads
from asyncenergy_controller.cli.console import say
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import Settings


def send_run(settings: Settings, run: RunDir) -> Upload:
    """Send one run's bundle. Raises ServerError; the bundle then waits for `bench submit`."""
    return send_bundle(settings, run.bundle_path.read_bytes())


def send_bundle(settings: Settings, raw: bytes) -> Upload:
    """Send one bundle. Raises ServerError; the bundle then waits for `bench submit`, unless it was refused."""
    uploads = Uploads(settings.data_dir, settings.api_url)
    with ServerClient(settings) as server:
        try:
            upload = uploads.send(raw, server)
        except ControllerError:
            if uploads.state_of(raw) == "pending-upload":
                say("The bundle is kept (pending-upload); `async-energy-controller bench submit` sends it again.")
            raise
    answer = upload.answer or {}
    say(f"The server has it: {answer.get('status')}, submission {answer.get('id')} {answer.get('url') or ''}".rstrip())
    for sentence in answer.get("reasons") or answer.get("flags") or []:
        say(f"  {sentence}")
    return upload
