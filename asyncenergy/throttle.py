"""Counts calls in windows of an hour. One atomic increment per call, so that parallel calls can't slip through."""

import ipaddress
import logging
import time

from django.conf import settings
from django.core.cache import cache
from redis import RedisError

WINDOW_S = 3600
logger = logging.getLogger(__name__)


def wait_s(scope: str, *, account: int | None, address: str) -> int | None:
    """Count one call; return None where it may go on, else the seconds until the next window."""
    window, passed_s = divmod(int(time.time()), WINDOW_S)
    caller = f"account-{account}" if account is not None else f"address-{address}"
    try:
        calls = _counted(f"throttle:{scope}:{caller}:{window}")
    except RedisError as error:
        logger.error("The throttle can't count, and the call goes on: %s", error)
        return None
    return None if calls <= allowed(scope, address) else WINDOW_S - passed_s


def _counted(key: str) -> int:
    cache.add(key, 0, timeout=WINDOW_S)
    try:
        return cache.incr(key)
    except ValueError:  # evicted between the two calls
        return 1


def allowed(scope: str, address: str) -> int:
    """Return the calls per hour in `scope`."""
    calls: int = settings.THROTTLES[scope]
    return calls * settings.THROTTLE_LOOPBACK_FACTOR if _is_loopback(address) else calls


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
