"""How work is named to the server."""

import hashlib
import hmac

from asyncenergy_controller.identity import machine_salt
from asyncenergy_controller.settings import Settings


def fingerprint(settings: Settings, name: str) -> str:
    """32 hex digits, the same for one name on this machine: without its salt nobody can try which name it is."""
    return hmac.new(machine_salt(settings.config_dir), f"sdk {name}".encode(), hashlib.sha256).hexdigest()[:32]
