"""Who calls the scheduler."""

import pytest

from tests.people import key_client
from tests.scheduling.people import make_market


@pytest.fixture
def box(submitter):
    return key_client(submitter)


@pytest.fixture
def own(client, submitter):
    """The browser of an account whose market is cheap on the second day."""
    make_market(*[0.30] * 24 + [0.10] * 24 + [0.30] * 48)
    client.force_login(submitter)
    return client
