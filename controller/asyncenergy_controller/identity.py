"""By which name the server knows this box, and the salt that keeps everything else about it to itself."""

import secrets
from pathlib import Path

from asyncenergy_controller.bench.files import PRIVATE_FILE, write_atomically
from asyncenergy_controller.settings import Settings

FILE = "controller_id"


def controller_id(settings: Settings) -> str:
    """The setting, else a random name that is made once: a host name would tell more than anybody needs."""
    return settings.controller_id or kept_controller_id(settings.state_dir)


def kept_controller_id(state_dir: Path) -> str:
    """The random name of this machine's user, made at the first call."""
    path = state_dir / FILE
    if not path.exists():
        write_atomically(path, f"box-{secrets.token_hex(8)}\n".encode(), mode=PRIVATE_FILE)
    return path.read_text(encoding="utf-8").strip()


def machine_salt(config_dir: Path) -> bytes:
    """Made once; whoever has it could test guesses of what a published digest was made from."""
    path = config_dir / "salt"
    if not path.exists():
        write_atomically(path, secrets.token_bytes(32), mode=PRIVATE_FILE)
    return path.read_bytes()
