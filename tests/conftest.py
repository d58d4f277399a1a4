"""What every test may use."""

import gc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import time_machine
from django.core.cache import cache
from rest_framework.test import APIClient

from accounts.models import User
from tests import people

NOON = datetime(2026, 8, 20, 12, tzinfo=UTC)

hypothesis.settings.register_profile("unit", max_examples=40, deadline=None)  # where a test names no number of its own
hypothesis.settings.register_profile("long", max_examples=1000, deadline=None)  # make test-slow
hypothesis.settings.load_profile("unit")


def pytest_collection_finish() -> None:
    """What was loaded stays until the end: to search it for garbage again and again took a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Recorded data that lies beside the project and is not shipped with it."""
    path = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("the recorded data is not beside this checkout (../shared/data)")
    return path


@pytest.fixture(autouse=True)
def _no_calls_counted_yet() -> Iterator[None]:
    yield
    cache.clear()


@pytest.fixture
def noon() -> Iterator[time_machine.Traveller]:
    """The clock stands at noon of one day; `noon.shift(seconds)` moves it."""
    with time_machine.travel(NOON, tick=False) as clock:
        yield clock


@pytest.fixture
def submitter(db: None) -> User:
    return people.make_user("submitter@example.org")


@pytest.fixture
def other_submitter(db: None) -> User:
    return people.make_user("other@example.org")


@pytest.fixture
def maintainer(db: None) -> User:
    return people.make_maintainer()


@pytest.fixture
def stranger_api() -> APIClient:
    return people.api_client()


@pytest.fixture
def submitter_api(submitter: User) -> APIClient:
    return people.api_client(submitter)


@pytest.fixture
def maintainer_api(maintainer: User) -> APIClient:
    return people.api_client(maintainer)


@pytest.fixture
def probe(settings: Any) -> str:
    """Serve the addresses of tests.probe too, and return their prefix."""
    settings.ROOT_URLCONF = "tests.probe"
    return "/api/probe"


@pytest.fixture
def bench_path(probe: str) -> str:
    """An address that an API key opens with the scope bench."""
    return f"{probe}/bench"
