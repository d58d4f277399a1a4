"""Who calls the scheduler."""

import pytest

from tests.people import key_client


@pytest.fixture
def box(submitter):
    return key_client(submitter)
