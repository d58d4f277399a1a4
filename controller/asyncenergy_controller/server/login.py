"""The login of one person, kept between commands."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from asyncenergy_controller.files import PRIVATE_FILE, FileUnreadable, lock, read_json, write_json
from asyncenergy_controller.server.errors import NotLoggedIn

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Login:
    """The pair of tokens of one account at one server."""

    api_url: str
    email: str
    access_token: str
    refresh_token: str


class LoginFile:
    """Where a login is kept between commands: readable by its owner alone."""

    def __init__(self, config_dir: Path) -> None:
        self.path = config_dir / "login.json"
        self._unwritten: Login | None = None
        self._replaced: Login | None = None
        """What the file held when the disk did not take the pair after it."""

    def read(self, api_url: str) -> Login | None:
        """The login at this server, None where there is none. Raises NotLoggedIn where it can't be read."""
        login = self._on_disk()
        if self._unwritten is not None and login == self._replaced:
            login = self._unwritten
            self.keep(login)
        return login if login and login.api_url == api_url else None

    def keep(self, login: Login) -> None:
        """Write a pair whose forerunner is spent: what the disk doesn't take now is kept here and written later."""
        replaced = self._on_disk()
        try:
            self.write(login)
        except OSError as error:
            if self._unwritten != login:
                log.warning("The login goes on, but can't be kept in %s (%s): make room there.", self.path, error)
            self._unwritten, self._replaced = login, replaced
        else:
            self._unwritten = None

    def write(self, login: Login) -> None:
        """Raises OSError where the disk doesn't take it."""
        write_json(self.path, asdict(login), mode=PRIVATE_FILE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """For as long as the block lasts no other thread or process may be in one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock(self.path.with_suffix(".lock"), wait=True) or nullcontext():
            yield

    def forget(self) -> bool:
        """True where there was a login to forget."""
        self._unwritten = None
        existed = self.path.exists()
        self.path.unlink(missing_ok=True)
        return existed

    def _on_disk(self) -> Login | None:
        if not self.path.exists():
            return None
        try:
            return Login(**read_json(self.path))
        except (FileUnreadable, OSError, TypeError) as error:
            raise NotLoggedIn(
                f"{self.path} can't be read as a login ({error}). Move it away, and log in again."
            ) from error
