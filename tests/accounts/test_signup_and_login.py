"""Signing up, logging in: to the letter of the wire contract."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import connection
from rest_framework.test import APIClient

from accounts.models import Login, User
from tests.people import PASSWORD, make_user

ANSWER = {"access_token", "refresh_token", "token_type", "expires_in", "user"}
NEW = {"email": "new@example.org", "password": PASSWORD}

pytestmark = pytest.mark.django_db


def signup(client: APIClient, **changes: object):
    return client.post("/auth/signup", NEW | changes)


def login(client: APIClient, email: str, password: str = PASSWORD):
    return client.post("/auth/login", {"email": email, "password": password})


def test_sign_up_answers_like_a_login(stranger_api):
    answer = signup(stranger_api)
    assert answer.status_code == 201
    assert set(answer.json()) == ANSWER
    user = User.objects.get()
    assert answer.json()["user"] == {"id": user.pk, "email": "new@example.org"}
    assert answer.json()["token_type"] == "bearer"
    assert answer.json()["expires_in"] == 1800
    assert answer.headers["Cache-Control"] == "no-store"


def test_sign_up_keeps_timezone_and_region(stranger_api):
    signup(stranger_api, timezone="Europe/Stockholm", region="SE3", unknown_key="ignored")
    user = User.objects.get()
    assert (user.timezone, user.region) == ("Europe/Stockholm", "SE3")


def test_sign_up_stores_no_readable_password(stranger_api):
    signup(stranger_api)
    assert PASSWORD not in User.objects.get().password


def test_a_known_address_is_refused_in_any_case(stranger_api):
    make_user("new@example.org")
    answer = signup(stranger_api, email="New@Example.ORG")
    assert answer.status_code == 400
    assert answer.json()["code"] == "email_taken"
    assert answer.json()["errors"][0]["attr"] == "email"
    assert User.objects.count() == 1


def test_an_address_that_a_superuser_writes_in_capitals_logs_in(client, stranger_api):
    client.force_login(User.objects.create_superuser("root@example.org", PASSWORD))
    form = {"email": "New@Example.ORG", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert client.post("/admin/accounts/user/add/", form).status_code == 302
    assert login(stranger_api, "New@Example.org").status_code == 200
    user = User.objects.get(email="new@example.org")
    form = {"email": "Renamed@Example.ORG", "timezone": "UTC", "is_active": "on"}
    assert client.post(f"/admin/accounts/user/{user.pk}/change/", form).status_code == 302
    assert login(stranger_api, "renamed@example.org").status_code == 200


def test_a_superuser_is_told_of_an_address_that_is_known_in_another_case(client):
    client.force_login(User.objects.create_superuser("root@example.org", PASSWORD))
    form = {"email": "Root@Example.ORG", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    assert "already exists" in client.post("/admin/accounts/user/add/", form).text
    assert User.objects.count() == 1


def test_the_first_superuser_logs_in_with_an_address_in_capitals(stranger_api, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)
    call_command("createsuperuser", "--no-input", "--email", "Root@Example.ORG", verbosity=0)
    assert login(stranger_api, "Root@Example.ORG").status_code == 200


@pytest.mark.parametrize(
    ("changes", "attr", "code"),
    [
        ({"email": "no address"}, "email", "invalid"),
        ({"email": None}, "email", "null"),
        ({"password": "12345678"}, "password", "password_weak"),
        ({"password": "new@example.org"}, "password", "password_weak"),
        ({"password": 1234567890123}, "password", "invalid"),
        ({"timezone": "Mars/Olympus"}, "timezone", "timezone_unknown"),
        ({"timezone": "../../etc/passwd"}, "timezone", "timezone_unknown"),
    ],
)
def test_a_wrong_value_is_named_and_nothing_is_stored(stranger_api, changes, attr, code):
    answer = signup(stranger_api, **changes)
    assert answer.status_code == 400
    assert (answer.json()["errors"][0]["attr"], answer.json()["errors"][0]["code"]) == (attr, code)
    assert answer.json()["detail"]
    assert not User.objects.exists()


def test_login_takes_the_address_in_any_case(stranger_api, submitter):
    answer = login(stranger_api, "Submitter@Example.org")
    assert answer.status_code == 200
    assert set(answer.json()) == ANSWER
    assert answer.json()["user"]["id"] == submitter.pk


def test_wrong_password_unknown_address_and_closed_account_get_the_same_answer(stranger_api, submitter):
    make_user("closed@example.org", is_active=False)
    answers = [
        login(stranger_api, submitter.email, "wrong"),
        login(stranger_api, "nobody@example.org"),
        login(stranger_api, "closed@example.org"),
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.content for answer in answers}) == 1
    assert not Login.objects.exists()


def test_the_access_token_opens_the_api(stranger_api, submitter):
    access = login(stranger_api, submitter.email).json()["access_token"]
    stranger_api.credentials(HTTP_AUTHORIZATION=f"Bearer {access}")
    assert stranger_api.get("/api/v1/keys").status_code == 200


def test_a_refresh_token_is_no_access_token(stranger_api, submitter):
    refresh = login(stranger_api, submitter.email).json()["refresh_token"]
    stranger_api.credentials(HTTP_AUTHORIZATION=f"Bearer {refresh}")
    assert stranger_api.get("/api/v1/keys").status_code == 401


def test_a_letter_confirms_the_address_and_nobody_waits_for_it(client, stranger_api):
    access = signup(stranger_api).json()["access_token"]
    stranger_api.credentials(HTTP_AUTHORIZATION=f"Bearer {access}")
    assert stranger_api.get("/api/v1/keys").status_code == 200
    link = next(word for word in mail.outbox[0].body.split() if word.startswith("http"))
    assert client.get(link).status_code == 200
    assert User.objects.get().email_confirmed_at is None  # a GET writes nothing
    client.post(link)
    assert User.objects.get().email_confirmed_at is not None


def test_a_damaged_confirmation_link_confirms_nothing(client, stranger_api):
    signup(stranger_api)
    answer = client.post("/accounts/confirm/damaged/")
    assert answer.status_code == 400
    assert User.objects.get().email_confirmed_at is None


@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_of_eight_simultaneous_sign_ups_with_one_address_one_wins():
    start = Barrier(8)

    def attempt(_):
        start.wait()
        try:
            return signup(APIClient()).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(attempt, range(8)))
    assert codes == [201] + [400] * 7
    assert User.objects.count() == 1
