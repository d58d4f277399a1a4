"""By which name the server knows this box, and the salt that keeps everything else about it to itself."""

import secrets
from contextlib import suppress
from pathlib import Path

from asyncenergy_controller.files import PRIVATE_FILE, write_atomically
from asyncenergy_controller.settings import Settings

FILE = "controller_id"


def controller_id(settings: Settings) -> str:
    """The setting, else a random name that is made once: a host name would tell more than anybody needs."""
    return settings.controller_id or kept_controller_id(settings.state_dir)


def kept_controller_id(state_dir: Path) -> str:
    """The random name of this machine's user, made at the first call."""
    return _kept(state_dir / FILE, f"box-{secrets.token_hex(8)}\n".encode()).decode().strip()


def machine_salt(config_dir: Path) -> bytes:
    """Made once; whoever has it could test guesses of what a published digest was made from."""
    return _kept(config_dir / "salt", secrets.token_bytes(32))


def _kept(path: Path, fresh: bytes) -> bytes:
    """What the file holds; `fresh` where there was none. Of several that begin at once, all get the same."""
    if not path.exists():
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        write_atomically(beside, fresh, mode=PRIVATE_FILE)
        with suppress(FileExistsError):
            path.hardlink_to(beside)
        beside.unlink()
    return path.read_bytes()
