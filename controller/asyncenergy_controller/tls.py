"""What encrypted connections trust, read once."""

import ssl
from functools import cache

import httpx2


@cache
def trusted_roots() -> ssl.SSLContext:
    """For every client of this process: to read it costs more than everything else about a client."""
    return httpx2.create_ssl_context()
