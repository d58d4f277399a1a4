"""Who may do what, on every address of the server, from one table."""

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.api.routes import METHODS, PEOPLE, World, routes

pytestmark = pytest.mark.django_db

# What a stranger, a submitter and a maintainer get. The thing behind an address is the submitter's, a POST is empty,
# and a method that isn't listed is refused to all.
READ = (200, 200, 200)
EMPTY = (400, 400, 400)  # everybody may, but not with an empty body
PAGE = (302, 200, 200)  # strangers are sent to sign in
OWN = (302, 200, 404)  # a page of the submitter's own
OWN_ACT = (302, 302, 404)
ACCOUNT = (401, 200, 200)
ACCOUNT_EMPTY = (401, 400, 400)
RIGHTS: dict[str, dict[str, tuple[int, int, int]]] = {
    "": {"GET": READ},
    "accounts/": {"GET": PAGE},
    "accounts/confirm/": {"POST": (302, 302, 302)},
    "accounts/confirm/<str:token>/": {"GET": READ, "POST": EMPTY},
    "accounts/delete/": {"GET": PAGE, "POST": PAGE},
    "accounts/keys/": {"GET": PAGE, "POST": PAGE},
    "accounts/keys/<uuid:key_id>/revoke/": {"POST": (302, 302, 404)},
    "accounts/login/": {"GET": (200, 302, 302), "POST": (200, 302, 302)},
    "accounts/logout/": {"POST": (302, 302, 302)},
    "accounts/password/": {"GET": PAGE, "POST": PAGE},
    "accounts/password/new/<str:uid>/<str:token>/": {"GET": EMPTY, "POST": EMPTY},
    "accounts/password/reset/": {"GET": READ, "POST": READ},
    "accounts/sign-out-everywhere/": {"POST": (302, 302, 302)},
    "accounts/signup/": {"GET": READ, "POST": READ},
    "api/docs": {"GET": READ},
    "api/v1/account": {"GET": ACCOUNT, "PATCH": ACCOUNT},
    "api/v1/advise": {"POST": ACCOUNT_EMPTY},
    "api/v1/bench/configs/<config_key:config_key>": {"GET": READ},
    "api/v1/bench/corpus": {"GET": READ},
    "api/v1/bench/corpus/<int:version>/<str:name>": {"GET": (404, 404, 404)},  # no download was made yet
    "api/v1/bench/facets": {"GET": READ},
    "api/v1/bench/leaderboard": {"GET": READ},
    "api/v1/bench/moderation-log": {"GET": READ},
    "api/v1/bench/nodes": {"GET": ACCOUNT, "POST": ACCOUNT_EMPTY},
    "api/v1/bench/nodes/<str:node_hash>/recommended-cap": {"GET": (401, 200, 404)},
    "api/v1/bench/recommend": {"GET": READ},
    "api/v1/bench/routing-table": {"GET": READ},
    "api/v1/bench/runs/<uuid:run_id>": {"GET": READ},
    "api/v1/bench/submissions": {"GET": ACCOUNT, "POST": ACCOUNT_EMPTY},
    "api/v1/bench/submissions/<uuid:submission_id>": {"GET": (401, 200, 404)},
    "api/v1/bench/submissions/<uuid:submission_id>/withdraw": {"POST": (401, 200, 404)},
    "api/v1/controllers": {"GET": ACCOUNT},
    "api/v1/controllers/<str:controller_id>": {"PATCH": ACCOUNT_EMPTY},
    "api/v1/keys": {"GET": ACCOUNT, "POST": ACCOUNT_EMPTY},
    "api/v1/keys/<uuid:key_id>": {"DELETE": (401, 204, 404)},
    "api/v1/markets": {"GET": ACCOUNT},
    "api/v1/runs": {"GET": ACCOUNT, "POST": ACCOUNT_EMPTY},
    "api/v1/runs/<uuid:run_id>/samples": {"POST": ACCOUNT_EMPTY},
    "api/v1/savings": {"GET": ACCOUNT},
    "api/v1/schedule": {"GET": (401, 200, 204)},
    "api/v1/schedule/<int:number>/certificate": {"GET": (401, 200, 404)},
    "api/v1/schedule/ack": {"POST": ACCOUNT_EMPTY},
    "api/v1/workflows": {"GET": ACCOUNT, "POST": ACCOUNT_EMPTY},
    "api/v1/workflows/<uuid:workflow_id>": {
        "GET": (401, 200, 404),
        "PATCH": (401, 200, 404),
        "DELETE": (401, 204, 404),
    },
    "api/v1/workflows/<uuid:workflow_id>/run-now": {"POST": (401, 200, 404)},
    "api/v1/workflows/<uuid:workflow_id>/skip-next": {"POST": (401, 200, 404)},
    "api/v1/bench/sweeps": {"GET": READ},
    "auth/login": {"POST": EMPTY},
    "auth/logout": {"POST": EMPTY},
    "auth/logout-everywhere": {"POST": (401, 204, 204)},
    "auth/password/change": {"POST": ACCOUNT_EMPTY},
    "auth/password/new": {"POST": EMPTY},
    "auth/password/reset": {"POST": EMPTY},
    "auth/refresh": {"POST": EMPTY},
    "auth/signup": {"POST": EMPTY},
    "bench/": {"GET": READ},
    "bench/api/": {"GET": READ},
    "bench/compare/": {"GET": READ},
    "bench/configs/<config_key:config_key>/": {"GET": READ},
    "bench/data/": {"GET": READ},
    "bench/gates/": {"GET": READ},
    "bench/leaderboard/": {"GET": READ},
    "bench/mcp/": {"GET": READ},
    "bench/methodology/": {"GET": READ},
    "bench/moderation-log/": {"GET": READ},
    "bench/picker/": {"GET": READ},
    "bench/runs/<uuid:run_id>/": {"GET": READ},
    "bench/own/": {"GET": PAGE},
    "bench/verify/": {"GET": READ},
    "bench-data.json": {"GET": READ},
    "blog/": {"GET": READ},
    "blog/<slug:slug>/": {"GET": READ},
    "blog/feed.xml": {"GET": READ},
    "blog/where-the-energy-goes/": {"GET": READ},
    "health": {"GET": READ},
    "learn/": {"GET": READ},
    "learn/glossary/": {"GET": READ},
    "how-it-works/": {"GET": READ},
    "llms.txt": {"GET": READ},
    "openapi.json": {"GET": READ},
    "quickstart/": {"GET": READ},
    "robots.txt": {"GET": READ},
    "schedule/": {"GET": PAGE},
    "schedule/controllers/": {"GET": PAGE, "POST": PAGE},
    "schedule/notices/": {"GET": PAGE, "POST": (302, 302, 302)},
    "schedule/notices/test/": {"POST": (302, 302, 302)},
    "schedule/pause/": {"POST": (302, 302, 302)},
    "schedule/plans/<int:number>/certificate.json": {"GET": (302, 200, 404)},
    "schedule/resume/": {"POST": (302, 302, 302)},
    "schedule/runs/": {"GET": PAGE},
    "schedule/runs/<uuid:record_id>/": {"GET": OWN},
    "schedule/settings/": {"GET": PAGE, "POST": PAGE},
    "schedule/workflows/": {"GET": PAGE},
    "schedule/workflows/new/": {"GET": PAGE, "POST": PAGE},
    "schedule/workflows/<uuid:workflow_id>/": {"GET": OWN},
    "schedule/workflows/<uuid:workflow_id>/deadline/": {"POST": OWN_ACT},
    "schedule/workflows/<uuid:workflow_id>/delete/": {"GET": OWN, "POST": OWN_ACT},
    "schedule/workflows/<uuid:workflow_id>/edit/": {"GET": OWN, "POST": OWN},
    "schedule/workflows/<uuid:workflow_id>/pause/": {"POST": OWN_ACT},
    "schedule/workflows/<uuid:workflow_id>/resume/": {"POST": OWN_ACT},
    "schedule/workflows/<uuid:workflow_id>/run-now/": {"POST": OWN_ACT},
    "schedule/workflows/<uuid:workflow_id>/skip-next/": {"POST": OWN_ACT},
    "sitemap.xml": {"GET": READ},
    "when-is-it-cheapest/": {"GET": READ},
}
# The admin lets in maintainers alone; this is what they get there.
ADMIN: dict[str, dict[str, int]] = {
    "admin/": {"GET": 200},
    "admin/(?P<url>.*)$": {"GET": 404},
    "admin/autocomplete/": {"GET": 403},
    "admin/jsi18n/": {"GET": 200},
    "admin/login/": {"GET": 403},
    "admin/accounts/user/<id>/password/": {"GET": 403},
    "admin/bench/alias/^([^/]+)/history/([^/]+)/$": {"GET": 200},
    "admin/bench/run/<uuid:run_id>/decide/": {"GET": 405, "POST": 400},
    "admin/logout/": {"POST": 302},
    "admin/password_change/": {"GET": 200, "POST": 200},
    "admin/password_change/done/": {"GET": 200},
    "admin/scheduling/market/<int:market_id>/prices/": {"GET": 200, "POST": 200},
    "admin/r/<path:content_type_id>/<path:object_id>/": {"GET": 404},
}
PAGES = ("", "add/", "<path:object_id>/change/", "<path:object_id>/delete/", "<path:object_id>/history/")
MODELS = {
    "accounts/apikey": (403, 403, 403, 403, 403),
    "accounts/user": (403, 403, 403, 403, 403),
    "auth/group": (403, 403, 403, 403, 403),
    "bench/alias": (200, 200, 200, 403, 200),
    "bench/decision": (200, 403, 200, 403, 200),
    "bench/node": (200, 403, 200, 403, 200),
    "bench/run": (200, 403, 200, 403, 200),
    "bench/submission": (200, 403, 200, 403, 200),
    "bench/submitteraccount": (200, 403, 200, 403, 200),
    "scheduling/feed": (200, 403, 200, 403, 200),
    "scheduling/market": (200, 200, 200, 403, 200),
    "scheduling/pricedocument": (200, 403, 200, 403, 200),
    "scheduling/pricepoint": (200, 403, 200, 403, 200),
    "scheduling/runrecord": (403, 403, 403, 403, 403),
    "scheduling/scheduleversion": (403, 403, 403, 403, 403),
    "scheduling/workflow": (403, 403, 403, 403, 403),
}
for model, statuses in MODELS.items():
    ADMIN |= {f"admin/{model}/{page}": {"GET": status} for page, status in zip(PAGES, statuses, strict=True)}
    ADMIN[f"admin/{model}/<path:object_id>/"] = {"GET": 302}
ADMIN |= {route: {"GET": 200} for route in routes() if route.startswith("admin/^")}  # the models of an app
REFUSED = {302, 401, 403, 404, 405}
WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER", "TRUNCATE")


def call(world: World, client: Client, method: str, route: str):
    """Return the status and the writes of a call, and undo it."""
    kind = "application/json" if route.startswith(("api/", "auth/")) else "application/x-www-form-urlencoded"
    with transaction.atomic(), CaptureQueriesContext(connection) as queries:
        answer = client.generic(method, world.url(route), b"", kind)
        transaction.set_rollback(True)
    return answer.status_code, [query["sql"] for query in queries if query["sql"].lstrip().startswith(WRITES)]


def test_every_address_stands_in_the_table():
    assert set(routes()) == set(RIGHTS) | set(ADMIN)


@pytest.mark.parametrize("person", PEOPLE)
def test_everybody_gets_what_the_table_says_and_reading_writes_nothing(world, person):
    wrong, reader = {}, world.client(person)
    for route, rights in RIGHTS.items():
        for method, statuses in rights.items():
            client = reader if method == "GET" else world.client(person)  # a call may end a login
            status, writes = call(world, client, method, route)
            if status != statuses[PEOPLE.index(person)] or (method == "GET" and writes):
                wrong[method, route] = (status, writes)
    assert not wrong


def test_a_maintainer_gets_what_the_table_says_in_the_admin_and_reading_writes_nothing(world):
    wrong, reader = {}, world.client("maintainer")
    for route, rights in ADMIN.items():
        for method, expected in rights.items():
            client = reader if method == "GET" else world.client("maintainer")
            status, writes = call(world, client, method, route)
            if status != expected or (method == "GET" and writes):
                wrong[method, route] = (status, writes)
    assert not wrong


@pytest.mark.campaign
@pytest.mark.parametrize("person", PEOPLE)
def test_what_the_table_does_not_list_is_refused_and_writes_nothing(world, person):
    wrong, client = {}, world.client(person)
    for route, rights in RIGHTS.items():
        for method in set(METHODS) - set(rights):
            status, writes = call(world, client, method, route)
            if status not in REFUSED or writes:
                wrong[method, route] = (status, writes)
    assert not wrong


@pytest.mark.campaign
@pytest.mark.parametrize("person", ["stranger", "submitter"])
def test_the_admin_is_shut_to_all_but_maintainers(world, person):
    wrong, client = {}, world.client(person)
    for route in ADMIN:
        for method in METHODS:
            status, writes = call(world, client, method, route)
            if status not in REFUSED or writes:
                wrong[method, route] = (status, writes)
    assert not wrong


@pytest.mark.campaign
@pytest.mark.parametrize(("person", "method"), [("maintainer", "HEAD"), ("machine", "GET")])
def test_reading_writes_nothing(world, person, method):
    wrong, client = {}, world.client(person)
    for route in [*RIGHTS, *ADMIN]:
        _, writes = call(world, client, method, route)
        unexpected = [sql for sql in writes if person != "machine" or '"last_used_at"' not in sql]
        if unexpected:
            wrong[route] = unexpected
    assert not wrong


def test_the_note_of_a_keys_last_use_stands_outside_any_transaction_of_the_call(settings):
    assert not settings.DATABASES["default"].get("ATOMIC_REQUESTS", False)
