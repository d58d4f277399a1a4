"""No address takes more queries where there is more to list."""

import json

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.services import api_key_create
from bench.models import Alias
from bench.services import alias_set, board_rebuild, run_publish, submission_ingest
from scheduling.services import account_plan, runs_ingest, workflow_create
from tests import people
from tests.api.routes import RUN, World
from tests.api.test_rights import ADMIN, RIGHTS
from tests.wire.bundles import make_bundle, make_run, make_trace

pytestmark = [pytest.mark.campaign, pytest.mark.django_db]
MORE = 3


def queries(client: Client, address: str) -> list[str] | None:
    """What reading this address asks of the database; None where the client is sent away."""
    with transaction.atomic(), CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
        transaction.set_rollback(True)
    return [query["sql"] for query in captured] if answer.status_code == 200 else None


def more_of_everything(world: World) -> None:
    """Runs of the configuration that is there and of others, some of them waiting, and all that an account owns."""
    for i in range(MORE):
        account = people.make_user(f"more-{i}@example.org")
        for max_tokens, watts in ((128, 110.0 + i), (200 + i, 120.0 + i), (300 + i, 130.0 + i)):
            run = make_run(node_hash=f"{i + 1:064x}", max_tokens=max_tokens, trace=make_trace(watts=watts))
            for owner in (account, world.submitter):
                raw = json.dumps(make_bundle(run | {"model": f"example-{watts:.0f}b"})).encode()
                for stored in submission_ingest(account=owner, raw=raw).runs:
                    if max_tokens != 200 + i:
                        run_publish(run=stored.run, by=world.maintainer, reason_code="checked", note="")
        alias_set(kind=Alias.Kind.MODEL, raw=f"example-{110 + i}b", name=f"Example {110 + i}B")
        api_key_create(user=world.submitter, name=f"box {i}", scope="all")
        runs_ingest(account=world.submitter, body=RUN | {"run_id": f"more-{i}", "controller_id": f"box-{i}"})
        workflow_create(
            account=world.submitter,
            name=f"more {i}",
            framework="command",
            deadline="by 8am",
            recurrence="daily",
            est_duration_s=1800.0,
            nameplate_watts=200.0,
        )
    account_plan(account=world.submitter)
    board_rebuild()


@pytest.mark.parametrize(("person", "table"), [("submitter", RIGHTS), ("maintainer", ADMIN)])
def test_an_address_takes_as_many_queries_for_many_things_as_for_one(world, person, table):
    client, grown = world.client(person), {}
    few = {route: queries(client, world.url(route)) for route in table}
    more_of_everything(world)
    for route, before in few.items():
        after = queries(client, world.url(route))
        if before is not None and len(after) > len(before):
            grown[route] = (len(before), len(after), sorted(set(after) - set(before))[:3])
    assert not grown
