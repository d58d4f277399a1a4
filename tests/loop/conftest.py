"""An empty database that is made once and copied for each server."""

import pytest

from tests.loop.server import migrate


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory):
    return migrate(tmp_path_factory.mktemp("empty-server") / "var")
