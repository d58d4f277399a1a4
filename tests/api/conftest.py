"""What tests of all addresses share."""

import logging
from collections.abc import Iterator

import pytest

from tests.api.routes import World


@pytest.fixture
def world(db: None) -> Iterator[World]:
    """Three people, and something real behind each address."""
    logging.disable()  # hundreds of refusals, each with its traceback
    yield World()
    logging.disable(logging.NOTSET)
