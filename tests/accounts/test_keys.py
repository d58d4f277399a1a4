"""API keys: minted by their owner, shown once, stored as a hash, revoked for good."""

import hashlib
from datetime import timedelta

import pytest

from accounts.models import ApiKey
from tests.conftest import NOON
from tests.people import api_client, key_client

pytestmark = pytest.mark.django_db


def mint(client, **changes):
    return client.post("/api/v1/keys", {"name": "box-1", "scope": "bench"} | changes)


def test_a_key_is_shown_once_and_only_its_hash_is_stored(submitter_api):
    answer = mint(submitter_api)
    assert answer.status_code == 201
    secret = answer.json()["key"]
    assert secret.startswith("ae_")
    assert len(secret) == len("ae_") + 43  # 256 bits in base64
    assert ApiKey.objects.get().sha256 == hashlib.sha256(secret.encode()).hexdigest()
    listed = submitter_api.get("/api/v1/keys").json()["results"]
    assert [row["name"] for row in listed] == ["box-1"]
    assert secret not in str(listed)


def test_times_are_utc_in_whole_seconds(submitter, noon):
    row = mint(api_client(submitter), expires_at="2026-12-24T18:00:00+01:00").json()
    assert row["created_at"] == "2026-08-20T12:00:00+00:00"
    assert row["expires_at"] == "2026-12-24T17:00:00+00:00"
    assert row["last_used_at"] is None


@pytest.mark.parametrize(
    ("changes", "attr"),
    [
        ({"name": ""}, "name"),
        ({"name": 7}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"scope": "admin"}, "scope"),
        ({"expires_at": "2030-01-01T00:00:00"}, "expires_at"),
        ({"expires_at": 1790000000}, "expires_at"),
        ({"expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
    ],
)
def test_a_wrong_value_is_named_and_no_key_is_made(submitter_api, changes, attr):
    answer = mint(submitter_api, **changes)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == attr
    assert not ApiKey.objects.exists()


def test_a_wrong_and_an_unknown_key_get_the_same_answer(submitter_api, stranger_api):
    secret = mint(submitter_api).json()["key"]
    answers = []
    for key in (secret[:-1] + ("A" if secret[-1] != "A" else "B"), "ae_" + "x" * 43, "junk", "", "ä"):
        stranger_api.credentials(HTTP_X_API_KEY=key)
        answers.append(stranger_api.post("/auth/logout-everywhere"))
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1


def test_a_revoked_key_opens_nothing(submitter, submitter_api, bench_path):
    machine = key_client(submitter, "bench")
    assert machine.get(bench_path).status_code == 200
    assert submitter_api.delete(f"/api/v1/keys/{ApiKey.objects.get().pk}").status_code == 204
    assert machine.get(bench_path).status_code == 401
    assert submitter_api.get("/api/v1/keys").json()["count"] == 0


def test_revoking_twice_keeps_the_first_time(submitter, submitter_api, noon):
    client = api_client(submitter)
    key_client(submitter)
    path = f"/api/v1/keys/{ApiKey.objects.get().pk}"
    client.delete(path)
    noon.shift(60)
    assert client.delete(path).status_code == 204
    assert ApiKey.objects.get().revoked_at == NOON


def test_an_expired_key_opens_nothing(submitter, bench_path, noon):
    machine = key_client(submitter, "bench")
    ApiKey.objects.update(expires_at=NOON + timedelta(hours=1))
    assert machine.get(bench_path).status_code == 200
    noon.shift(3600)
    assert machine.get(bench_path).status_code == 401


def test_the_key_of_a_closed_account_opens_nothing(submitter, bench_path):
    machine = key_client(submitter, "bench")
    submitter.is_active = False
    submitter.save(update_fields=["is_active"])
    assert machine.get(bench_path).status_code == 401


def test_somebody_elses_key_is_not_there(submitter_api, other_submitter):
    key_client(other_submitter)
    key = ApiKey.objects.get()
    assert submitter_api.delete(f"/api/v1/keys/{key.pk}").status_code == 404
    assert submitter_api.get("/api/v1/keys").json()["results"] == []
    key.refresh_from_db()
    assert key.revoked_at is None


@pytest.mark.parametrize(("scope", "status"), [("bench", 200), ("all", 200), ("schedule", 403)])
def test_a_scope_opens_its_calls_and_no_others(submitter, bench_path, scope, status):
    answer = key_client(submitter, scope).get(bench_path)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "scope_missing"
        assert "bench" in answer.json()["detail"]


def test_no_key_mints_keys(submitter):
    answer = mint(key_client(submitter, "all"))
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert ApiKey.objects.count() == 1


def test_the_last_use_is_noted_at_most_once_a_minute(submitter, bench_path, noon):
    machine = key_client(submitter, "bench")
    machine.get(bench_path)
    noon.shift(59)
    machine.get(bench_path)
    assert ApiKey.objects.get().last_used_at == NOON
    noon.shift(1)
    machine.get(bench_path)
    assert ApiKey.objects.get().last_used_at == NOON + timedelta(seconds=60)
