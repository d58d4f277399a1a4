"""Signing out, changing a password, and setting a new one by a letter."""

import re

import pytest
from django.core import mail

from accounts.models import Login, User
from accounts.services import login_open
from tests.people import PASSWORD, api_client, key_client

NEW = "a new long password"
pytestmark = pytest.mark.django_db


def opens(client):
    return client.get("/api/v1/keys").status_code == 200


def may_log_in(client, user, password):
    return client.post("/auth/login", {"email": user.email, "password": password}).status_code == 200


def letter_link() -> str:
    [link] = re.findall(r"http://testserver(\S+)", str(mail.outbox[-1].body))
    return str(link)


def test_logging_out_ends_this_login_only(stranger_api, submitter, submitter_api):
    pair = login_open(user=submitter)
    assert stranger_api.post("/auth/logout", {"refresh_token": pair.refresh_token}).status_code == 204
    assert stranger_api.post("/auth/refresh", {"refresh_token": pair.refresh_token}).status_code == 401
    assert opens(submitter_api)


def test_signing_out_everywhere_ends_programs_and_browsers_but_no_key(client, submitter, submitter_api, bench_path):
    other, machine = api_client(submitter), key_client(submitter)
    client.force_login(submitter)
    assert submitter_api.post("/auth/logout-everywhere").status_code == 204
    assert not opens(submitter_api)
    assert not opens(other)
    assert client.get("/accounts/").status_code == 302
    assert machine.get(bench_path).status_code == 200


def test_signing_out_everywhere_leaves_other_accounts_alone(submitter_api, other_submitter):
    other = api_client(other_submitter)
    submitter_api.post("/auth/logout-everywhere")
    assert opens(other)


def test_a_password_change_ends_all_logins_and_answers_with_a_new_one(stranger_api, submitter, submitter_api):
    answer = submitter_api.post("/auth/password/change", {"current_password": PASSWORD, "new_password": NEW})
    assert answer.status_code == 200
    assert not opens(submitter_api)
    stranger_api.credentials(HTTP_AUTHORIZATION=f"Bearer {answer.json()['access_token']}")
    assert opens(stranger_api)
    assert may_log_in(api_client(), submitter, NEW)
    assert not may_log_in(api_client(), submitter, PASSWORD)


@pytest.mark.parametrize(
    ("current", "new", "attr"), [("wrong", NEW, "current_password"), (PASSWORD, "short", "new_password")]
)
def test_a_refused_change_changes_nothing(submitter, submitter_api, current, new, attr):
    answer = submitter_api.post("/auth/password/change", {"current_password": current, "new_password": new})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["attr"] == attr
    assert opens(submitter_api)
    assert may_log_in(api_client(), submitter, PASSWORD)


def test_the_answer_does_not_say_whether_an_address_is_known(stranger_api, submitter):
    known = stranger_api.post("/auth/password/reset", {"email": submitter.email})
    unknown = stranger_api.post("/auth/password/reset", {"email": "nobody@example.org"})
    assert (known.status_code, known.content) == (unknown.status_code, unknown.content) == (204, b"")
    assert [letter.to for letter in mail.outbox] == [[submitter.email]]


def test_the_letters_link_sets_a_new_password_once(client, stranger_api, submitter, submitter_api):
    stranger_api.post("/auth/password/reset", {"email": submitter.email})
    link = letter_link()
    assert client.get(link).status_code == 200
    assert client.post(link, {"new_password": NEW}).status_code == 302
    assert client.post(link, {"new_password": "another long password"}).status_code == 400
    assert may_log_in(stranger_api, submitter, NEW)
    assert not opens(submitter_api)
    assert User.objects.get().email_confirmed_at is not None


def test_a_program_may_use_the_letters_link_too(stranger_api, submitter):
    stranger_api.post("/auth/password/reset", {"email": submitter.email})
    _, uid, token, _ = letter_link().rsplit("/", 3)
    body = {"uid": uid, "token": token, "new_password": NEW}
    assert stranger_api.post("/auth/password/new", body).status_code == 200
    assert stranger_api.post("/auth/password/new", body).json()["code"] == "link_invalid"
    assert may_log_in(stranger_api, submitter, NEW)


@pytest.mark.parametrize("uid", ["MQ", "x", "_", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_a_damaged_link_sets_nothing(client, stranger_api, submitter, uid):
    body = {"uid": uid, "token": "c0ffee-123", "new_password": NEW}
    assert stranger_api.post("/auth/password/new", body).status_code == 400
    assert client.get(f"/accounts/password/new/{uid}/c0ffee-123/").status_code == 400
    assert may_log_in(stranger_api, submitter, PASSWORD)


def test_a_letter_that_cannot_be_sent_costs_nobody_their_account(stranger_api, settings, caplog):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    answer = stranger_api.post("/auth/signup", {"email": "new@example.org", "password": PASSWORD})
    assert answer.status_code == 201
    assert Login.objects.count() == 1
    assert "was not sent" in caplog.text


def test_a_password_that_a_superuser_sets_ends_all_logins_too(client, submitter, submitter_api):
    client.force_login(User.objects.create_superuser("root@example.org", PASSWORD))
    form = {"password1": NEW, "password2": NEW, "usable_password": "true"}
    assert client.post(f"/admin/accounts/user/{submitter.pk}/password/", form).status_code == 302
    assert may_log_in(api_client(), submitter, NEW)
    assert not opens(submitter_api)
