"""What was sent, or is still to be sent. A bundle is copied here before the first attempt, and never deleted."""

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from asyncenergy_controller import clock
from asyncenergy_controller.errors import ControllerError
from asyncenergy_controller.files import read_json, write_atomically, write_json
from asyncenergy_controller.server import RequestRefused

FINAL_STATUS = (400, 409, 413, 422)  # this bundle will never be taken; other refusals can be healed
UploadState = Literal["pending-upload", "submitted", "refused"]


@dataclass(frozen=True)
class Upload:
    """One bundle on its way. `answer` is the server's last one, `detail` the last error."""

    key: str
    api_url: str
    state: UploadState = "pending-upload"
    detail: str | None = None
    answer: dict[str, Any] | None = None
    at: str = ""


class Sender(Protocol):
    def submit_bundle(self, raw: bytes) -> dict[str, Any]: ...


class Uploads:
    """The uploads of one data directory to one server."""

    def __init__(self, data_dir: Path, api_url: str) -> None:
        self.root = data_dir / "uploads"
        self.api_url = api_url

    def key(self, raw: bytes) -> str:
        return hashlib.sha256(self.api_url.encode() + b"\n" + raw).hexdigest()[:16]

    def state_of(self, raw: bytes) -> UploadState | None:
        """None for a bundle that was never sent to this server."""
        path = self.root / self.key(raw) / "upload.json"
        return Upload(**read_json(path)).state if path.exists() else None

    def pending(self) -> list[bytes]:
        """The bundles that this server has not taken yet, oldest first."""
        uploads = [Upload(**read_json(path)) for path in self.root.glob("*/upload.json")]
        waiting = [upload for upload in uploads if (upload.state, upload.api_url) == ("pending-upload", self.api_url)]
        return [self._bundle(upload).read_bytes() for upload in sorted(waiting, key=lambda upload: upload.at)]

    def send(self, raw: bytes, sender: Sender) -> Upload:
        """Send once. Pending until the server has taken it or refused it for good. Raises what the sender raises."""
        upload = Upload(self.key(raw), self.api_url, at=clock.now().isoformat(timespec="seconds"))
        write_atomically(self._bundle(upload), raw)
        self._write(upload)
        try:
            answer = sender.submit_bundle(raw)
        except ControllerError as error:
            final = isinstance(error, RequestRefused) and error.status in FINAL_STATUS and not error.is_passing
            self._write(replace(upload, state="refused" if final else "pending-upload", detail=str(error)))
            raise
        sent = replace(upload, state="submitted", answer=answer)
        self._write(sent)
        return sent

    def _bundle(self, upload: Upload) -> Path:
        return self.root / upload.key / "bundle.json"

    def _write(self, upload: Upload) -> None:
        write_json(self.root / upload.key / "upload.json", asdict(upload))
