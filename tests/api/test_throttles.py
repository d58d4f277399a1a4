"""One caller may call so often an hour; somebody on their own machine may more."""

from unittest.mock import patch

import pytest
from redis import RedisError

from asyncenergy.throttle import allowed, wait_s
from tests.people import api_client

pytestmark = pytest.mark.django_db
SOMEWHERE = "203.0.113.7"


def test_a_stranger_is_counted_by_address(client, probe, settings):
    settings.THROTTLES = settings.THROTTLES | {"submissions": 2}
    calls = [client.post(f"{probe}/echo", {}, "application/json", REMOTE_ADDR=SOMEWHERE) for _ in range(3)]
    assert [answer.status_code for answer in calls] == [200, 200, 429]
    assert calls[-1].json()["code"] == "throttled"
    assert 0 < int(calls[-1].headers["Retry-After"]) <= 3600
    other = client.post(f"{probe}/echo", {}, "application/json", REMOTE_ADDR="203.0.113.8")
    assert other.status_code == 200


def test_an_account_is_counted_wherever_it_calls_from(submitter, other_submitter, settings, bench_path):
    settings.THROTTLES = settings.THROTTLES | {"calls": 1}
    client = api_client(submitter)
    assert client.get(bench_path, REMOTE_ADDR=SOMEWHERE).status_code == 200
    assert client.get(bench_path, REMOTE_ADDR="203.0.113.8").status_code == 429
    assert api_client(other_submitter).get(bench_path, REMOTE_ADDR=SOMEWHERE).status_code == 200


def test_a_forwarded_address_is_believed_only_from_a_known_proxy(client, probe, settings):
    settings.THROTTLES = settings.THROTTLES | {"submissions": 1}
    for spoofed in ("198.51.100.1", "198.51.100.2"):
        answer = client.post(
            f"{probe}/echo", {}, "application/json", REMOTE_ADDR=SOMEWHERE, HTTP_X_FORWARDED_FOR=spoofed
        )
    assert answer.status_code == 429


def test_the_window_ends(settings, noon):
    settings.THROTTLES = settings.THROTTLES | {"login": 1}
    assert wait_s("login", account=None, address=SOMEWHERE) is None
    assert wait_s("login", account=None, address=SOMEWHERE) == 3600
    noon.shift(3600)
    assert wait_s("login", account=None, address=SOMEWHERE) is None


@pytest.mark.parametrize(("scope", "at_least"), [("signup", 10), ("login", 20), ("submissions", 60)])
@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_on_ones_own_machine(scope, at_least, address):
    assert allowed(scope, address) >= at_least
    assert allowed(scope, address) > allowed(scope, SOMEWHERE)


def test_loopback_means_nothing_in_production(settings):
    settings.THROTTLE_LOOPBACK_FACTOR = 1
    assert allowed("login", "127.0.0.1") == allowed("login", SOMEWHERE)


def test_without_its_counter_the_call_goes_on(client, probe, caplog):
    with patch("asyncenergy.throttle.cache.add", side_effect=RedisError("connection refused")):
        answer = client.post(f"{probe}/echo", {}, "application/json")
    assert answer.status_code == 200
    assert "can't count" in caplog.text
