"""One real server for the whole conversation."""

import pytest

from tests.loop.server import Server, migrate


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    empty = migrate(tmp_path_factory.mktemp("empty-server") / "var")
    server = Server(tmp_path_factory.mktemp("contract") / "var", empty)
    server.start()
    yield server
    server.stop()
