"""The login of one person, kept between commands."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path

from asyncenergy_controller.files import PRIVATE_FILE, FileUnreadable, lock, read_json, write_json


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

    def read(self, api_url: str) -> Login | None:
        """The login at this server, None where there is none. Raises FileUnreadable."""
        if not self.path.exists():
            return None
        try:
            login = Login(**read_json(self.path))
        except TypeError as error:
            raise FileUnreadable(f"{self.path} is no login; remove it and log in again.") from error
        return login if login.api_url == api_url else None

    def write(self, login: Login) -> None:
        write_json(self.path, asdict(login), mode=PRIVATE_FILE)

    @contextmanager
    def held(self) -> Iterator[None]:
        """For as long as the block lasts no other thread or process may be in one."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with lock(self.path.with_suffix(".lock"), wait=True) or nullcontext():
            yield

    def forget(self) -> bool:
        """True where there was a login to forget."""
        existed = self.path.exists()
        self.path.unlink(missing_ok=True)
        return existed
