"""The account pages work without JavaScript: forms, refusals at their field, one key shown once."""

from datetime import UTC, datetime

import pytest
from django.test import Client

from accounts.models import ApiKey, User
from tests.people import PASSWORD, key_client

pytestmark = pytest.mark.django_db
SIGNUP = {"email": "new@example.org", "password": PASSWORD, "timezone": "Europe/Stockholm"}


def test_signing_up_opens_the_account(client):
    answer = client.post("/accounts/signup/", SIGNUP, follow=True)
    assert answer.redirect_chain == [("/accounts/", 302)]
    assert "new@example.org" in answer.text
    assert User.objects.get().timezone == "Europe/Stockholm"


def test_a_refusal_stands_at_its_field_and_keeps_what_was_typed(client, submitter):
    page = client.post("/accounts/signup/", SIGNUP | {"email": submitter.email}).text
    assert 'aria-invalid="true"' in page
    assert "already has an account" in page
    assert f'value="{submitter.email}"' in page
    assert PASSWORD not in page
    assert User.objects.count() == 1


def test_signing_in_and_out(client, submitter):
    credentials = {"username": "Submitter@Example.org", "password": PASSWORD}
    assert client.post("/accounts/login/", credentials).url == "/accounts/"
    assert client.get("/accounts/").status_code == 200
    assert client.get("/accounts/logout/").status_code == 405
    client.post("/accounts/logout/")
    assert client.get("/accounts/").url == "/accounts/login/?next=/accounts/"


def test_a_wrong_password_is_refused_in_words(client, submitter):
    page = client.post("/accounts/login/", {"username": submitter.email, "password": "wrong"})
    assert "No account has this e-mail address and password." in page.text


def test_signing_in_leads_nowhere_else(client, submitter):
    credentials = {"username": submitter.email, "password": PASSWORD, "next": "https://evil.example/"}
    assert client.post("/accounts/login/", credentials).url == "/accounts/"


def test_a_key_is_made_shown_once_and_revoked(client, submitter):
    client.force_login(submitter)
    page = client.post("/accounts/keys/", {"name": "box-1", "scope": "bench", "expires_at": "2999-01-31"}).text
    assert "ae_" in page
    key = ApiKey.objects.get()
    assert (key.name, key.scope, key.expires_at) == ("box-1", "bench", datetime(2999, 1, 31, tzinfo=UTC))
    again = client.get("/accounts/keys/").text
    assert "box-1" in again
    assert "copy it now" not in again.lower()
    client.post(f"/accounts/keys/{key.pk}/revoke/")
    assert "box-1" not in client.get("/accounts/keys/", follow=True).text.replace("The key box-1 is revoked", "")
    key.refresh_from_db()
    assert key.revoked_at is not None


def test_an_expired_date_is_refused_at_its_field(client, submitter):
    client.force_login(submitter)
    page = client.post("/accounts/keys/", {"name": "box-1", "scope": "bench", "expires_at": "2001-01-01"}).text
    assert "Write a later time" in page
    assert not ApiKey.objects.exists()


def test_somebody_elses_key_cannot_be_revoked(client, submitter, other_submitter):
    key_client(other_submitter)
    key = ApiKey.objects.get()
    client.force_login(submitter)
    assert client.post(f"/accounts/keys/{key.pk}/revoke/").status_code == 404
    key.refresh_from_db()
    assert key.revoked_at is None


def test_changing_the_password_keeps_this_browser_and_ends_the_others(client, submitter):
    other = Client()
    for browser in (client, other):
        browser.force_login(submitter)
    form = {"current_password": PASSWORD, "new_password": "a new long password"}
    assert client.post("/accounts/password/", form).status_code == 302
    assert client.get("/accounts/").status_code == 200
    assert other.get("/accounts/").status_code == 302


def test_signing_out_everywhere_ends_this_browser_too(client, submitter):
    client.force_login(submitter)
    client.post("/accounts/sign-out-everywhere/")
    assert client.get("/accounts/").status_code == 302


def test_a_lost_password_is_answered_alike_for_all(client, submitter):
    pages = [client.post("/accounts/password/reset/", {"email": email}).text for email in (submitter.email, "a@b.eu")]
    assert all("a letter with a link is on its way" in page for page in pages)


def test_the_letter_can_be_asked_for_again(client, submitter, mailoutbox):
    client.force_login(submitter)
    client.post("/accounts/confirm/")
    assert [letter.to for letter in mailoutbox] == [[submitter.email]]


def test_a_form_without_its_token_changes_nothing(submitter):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(submitter)
    answer = browser.post("/accounts/keys/", {"name": "box-1", "scope": "all"})
    assert answer.status_code == 403
    assert "The form has expired" in answer.text
    assert not ApiKey.objects.exists()


def test_guessing_passwords_is_slowed_down(client, settings, submitter):
    settings.THROTTLE_LOOPBACK_FACTOR = 1
    settings.THROTTLES = settings.THROTTLES | {"login": 3}
    tries = [client.post("/accounts/login/", {"username": submitter.email, "password": "wrong"}) for _ in range(4)]
    assert [answer.status_code for answer in tries] == [200, 200, 200, 429]
    assert int(tries[-1].headers["Retry-After"]) <= 3600


def test_the_admin_has_no_sign_in_of_its_own(client, submitter, maintainer):
    assert client.get("/admin/", follow=True).redirect_chain[-1] == ("/accounts/login/?next=/admin/", 302)
    client.force_login(submitter)
    assert client.get("/admin/", follow=True).status_code == 403
    client.force_login(maintainer)
    assert client.get("/admin/").status_code == 200
