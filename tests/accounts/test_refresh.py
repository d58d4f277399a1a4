"""A refresh token is good for one use; a second one ends its login."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import Login, SpentToken
from accounts.services import login_open
from tests.people import make_user

pytestmark = pytest.mark.django_db


def refresh(client: APIClient, token: object):
    return client.post("/auth/refresh", {"refresh_token": token})


def opens(access: str) -> bool:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {access}")
    return client.get("/api/v1/keys").status_code == 200


def test_a_refresh_answers_with_a_new_pair(stranger_api, submitter):
    old = login_open(user=submitter)
    answer = refresh(stranger_api, old.refresh_token)
    assert answer.status_code == 200
    assert answer.json()["refresh_token"] != old.refresh_token
    assert answer.json()["user"] == {"id": submitter.pk, "email": submitter.email}
    assert opens(answer.json()["access_token"])


def test_a_second_use_ends_the_login_and_all_its_tokens(stranger_api, submitter):
    old = login_open(user=submitter)
    new = refresh(stranger_api, old.refresh_token).json()
    again = refresh(stranger_api, old.refresh_token)
    assert (again.status_code, again.json()["code"]) == (401, "token_spent")
    assert refresh(stranger_api, new["refresh_token"]).status_code == 401
    assert not opens(new["access_token"])
    assert not opens(old.access_token)


def test_another_login_of_the_account_goes_on(stranger_api, submitter):
    stolen, other = login_open(user=submitter), login_open(user=submitter)
    refresh(stranger_api, stolen.refresh_token)
    refresh(stranger_api, stolen.refresh_token)
    assert opens(other.access_token)
    assert refresh(stranger_api, other.refresh_token).status_code == 200


@pytest.mark.parametrize("token", ["", "junk", "a.b.c", 7, None, True])
def test_what_is_no_token_is_refused(stranger_api, submitter, token):
    answer = refresh(stranger_api, token)
    assert answer.status_code in (400, 401)
    assert answer.json()["detail"]


def test_an_access_token_refreshes_nothing(stranger_api, submitter):
    assert refresh(stranger_api, login_open(user=submitter).access_token).status_code == 401


def test_a_token_signed_with_another_key_is_refused(stranger_api, submitter):
    header, payload, signature = login_open(user=submitter).refresh_token.split(".")
    forged = ".".join([header, payload, signature[::-1]])
    assert refresh(stranger_api, forged).status_code == 401


def test_an_account_that_was_closed_refreshes_nothing(stranger_api, submitter):
    pair = login_open(user=submitter)
    submitter.is_active = False
    submitter.save(update_fields=["is_active"])
    assert refresh(stranger_api, pair.refresh_token).status_code == 401
    assert not opens(pair.access_token)


def test_a_refresh_token_expires_after_60_days(stranger_api, submitter, noon):
    pair = login_open(user=submitter)
    noon.shift(61 * 24 * 3600)
    assert refresh(stranger_api, pair.refresh_token).status_code == 401


def test_spent_tokens_and_dead_logins_do_not_pile_up(stranger_api, submitter, noon):
    pair = login_open(user=submitter)
    for _ in range(4):
        pair_json = refresh(stranger_api, pair.refresh_token).json()
        pair = login_open(user=submitter)
        noon.shift(61 * 24 * 3600)
    assert pair_json
    assert Login.objects.count() <= 2
    assert SpentToken.objects.count() <= 1


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_of_eight_simultaneous_uses_exactly_one_wins():
    token = login_open(user=make_user()).refresh_token
    start = Barrier(8)

    def attempt(_):
        start.wait()
        try:
            return refresh(APIClient(), token).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(attempt, range(8)))
    assert codes == [200] + [401] * 7
    assert SpentToken.objects.count() == 1
    assert Login.objects.get().revoked_at is not None
