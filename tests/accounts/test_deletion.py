"""Whoever has an account can delete it, and says what becomes of its published figures."""

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import Model
from django.test import Client

from accounts.models import User
from accounts.services import login_open
from bench.models import Decision, Run, Submitter
from bench.services import submitter_ban
from scheduling.models import ScheduleVersion, Workflow
from tests.bench.corpus import published
from tests.people import PASSWORD, api_client, key_client
from tests.scheduling.night import make_night

pytestmark = pytest.mark.django_db
PATH = "/accounts/delete/"
STAYS = {"figures": "stay", "current_password": PASSWORD}
WITHDRAWN = {"figures": "withdrawn", "current_password": PASSWORD}


@pytest.fixture
def owner(client, submitter) -> Client:
    client.force_login(submitter)
    return client


def rows_of(account_id: int) -> dict[str, int]:
    """How many rows of each model, its past states too, still hold the number of an account."""
    found = {}
    for model in apps.get_models():
        names = [field.name for field in model._meta.concrete_fields if issubclass(_target(field), User)]
        for name in names:
            found[f"{model.__name__}.{name}"] = model._default_manager.filter(**{f"{name}_id": account_id}).count()
    return {place: n for place, n in found.items() if n}


def _target(field) -> type:
    return field.related_model if isinstance(field.related_model, type) else Model


def test_the_account_page_leads_to_a_page_that_says_what_will_happen(owner):
    assert f'href="{PATH}"' in owner.get("/accounts/").text
    page = owner.get(PATH).text
    for words in ("can’t be undone", "stay, without a link to you", "are withdrawn", "workflows"):
        assert words in page
    assert User.objects.filter(email="submitter@example.org").exists()


def test_a_deleted_account_leaves_its_figures_if_its_owner_says_so(owner, submitter, maintainer):
    run = published(submitter, maintainer)
    answer = owner.post(PATH, STAYS, follow=True)
    assert "Your account is deleted. Its published figures stay, without a link to you." in answer.text
    assert owner.get("/accounts/").status_code == 302
    assert not User.objects.filter(email=submitter.email).exists()
    assert Run.objects.get(pk=run.pk).status == "published"


def test_a_deleted_account_takes_its_figures_along_if_its_owner_says_so(owner, submitter, maintainer):
    run = published(submitter, maintainer)
    answer = owner.post(PATH, WITHDRAWN, follow=True)
    assert "Your account is deleted, and its published figures are withdrawn." in answer.text
    assert not User.objects.filter(email=submitter.email).exists()
    assert Run.objects.get(pk=run.pk).status == "withdrawn"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"current_password": "wrong"}, "The current password is not right."),
        ({"current_password": ""}, "This field is required."),
        ({"figures": ""}, "Choose what becomes of them."),
        ({"figures": "sold"}, "Choose what becomes of them."),
    ],
)
def test_without_the_password_and_a_choice_nothing_is_changed(owner, submitter, maintainer, changes, words):
    run = published(submitter, maintainer)
    assert words in owner.post(PATH, WITHDRAWN | changes).text
    assert owner.get("/accounts/").status_code == 200
    assert Run.objects.get(pk=run.pk).status == "published"


def test_nothing_but_the_figures_stays_of_an_account(owner, submitter, maintainer):
    published(submitter, maintainer)
    night = make_night(submitter)
    number = ScheduleVersion.objects.filter(account=submitter).count() + 1
    changes = {"pk": None, "_state": type(night.version._state)(), "number": number, "based_on_id": night.version.pk}
    vars(night.version).update(changes | {"id": Workflow().pk})
    night.version.save()
    submitter_ban(account=submitter, by=maintainer, note="Invented traces.")
    program, machine, pk = api_client(submitter), key_client(submitter), submitter.pk
    assert {"Workflow.account", "ApiKey.user", "Login.user", "ScheduleVersion.account"} <= set(rows_of(pk))
    owner.post(PATH, STAYS)
    assert rows_of(pk) == {}
    assert not Submitter.history.filter(account_id=pk).exists()
    assert (program.get("/api/v1/keys").status_code, machine.get("/api/v1/schedule").status_code) == (401, 401)


def test_the_desks_own_log_forgets_the_address_too(owner, submitter, maintainer):
    kind = ContentType.objects.get_for_model(User)
    LogEntry.objects.create(
        user=maintainer, content_type=kind, object_id=submitter.pk, object_repr=submitter.email, action_flag=CHANGE
    )
    owner.post(PATH, STAYS)
    assert LogEntry.objects.get().object_repr == "a deleted account"


def test_another_account_is_left_alone(owner, submitter, other_submitter, maintainer):
    kept = published(other_submitter, maintainer, node_hash="b" * 64)
    access = login_open(user=other_submitter)
    before = rows_of(other_submitter.pk)
    owner.post(PATH, WITHDRAWN)
    assert rows_of(other_submitter.pk) == before
    assert Run.objects.get(pk=kept.pk).status == "published"
    assert access.user.is_active


def test_a_form_that_is_sent_twice_deletes_once(owner, submitter):
    twin = Client()
    twin.force_login(submitter)
    owner.post(PATH, STAYS)
    assert twin.post(PATH, STAYS).url == f"/accounts/login/?next={PATH}"
    assert User.objects.filter(email__startswith="deleted-").count() == 1


def test_guessing_the_password_of_a_deletion_is_slowed_down(owner, settings):
    settings.THROTTLE_LOOPBACK_FACTOR = 1
    settings.THROTTLES = settings.THROTTLES | {"login": 3}
    tries = [owner.post(PATH, STAYS | {"current_password": "wrong"}).status_code for _ in range(4)]
    assert tries == [200, 200, 200, 429]


# In the admin


@pytest.fixture
def desk(client) -> Client:
    client.force_login(User.objects.create_superuser("root@example.org", PASSWORD))
    return client


def test_a_superuser_deletes_an_account_and_says_what_becomes_of_its_figures(desk, submitter, maintainer):
    run, path = published(submitter, maintainer), f"/admin/accounts/user/{submitter.pk}/delete/"
    asked = desk.get(path)
    assert submitter.email in asked.text
    assert "Choose what becomes of them." in desk.post(path, {"post": "yes"}).text
    assert User.objects.filter(pk=submitter.pk).exists()
    desk.post(path, {"figures": "stay"})
    assert not User.objects.filter(pk=submitter.pk).exists()
    assert Run.objects.get(pk=run.pk).status == "published"
    assert Decision.objects.count() == 1
    assert submitter.email not in {entry.object_repr for entry in LogEntry.objects.all()}


@pytest.mark.parametrize("named", ["999", "nobody"])
def test_an_account_that_is_not_there_cannot_be_deleted(desk, named):
    assert desk.get(f"/admin/accounts/user/{named}/delete/").status_code == 404


def test_a_maintainer_deletes_nobodys_account(client, maintainer, submitter):
    client.force_login(maintainer)
    assert client.post(f"/admin/accounts/user/{submitter.pk}/delete/", {"figures": "stay"}).status_code == 403
    assert User.objects.filter(pk=submitter.pk).exists()


def test_accounts_are_not_deleted_in_bulk_past_the_question(desk, submitter):
    selected = {"action": "delete_selected", "_selected_action": [str(submitter.pk)], "post": "yes"}
    desk.post("/admin/accounts/user/", selected)
    assert User.objects.filter(pk=submitter.pk).exists()
