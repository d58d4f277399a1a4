"""Every address of the server, found by walking its URL configuration, with something real behind each."""

import json
import re
from collections.abc import Iterator
from typing import Any

from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import URLResolver, get_resolver

from accounts.models import User
from accounts.services import api_key_create, login_open
from bench.models import Alias
from bench.services import alias_set, board_rebuild, run_publish, submission_ingest
from scheduling.models import Market, ScheduleVersion, Workflow
from scheduling.services import account_plan, prices_load_csv, runs_ingest, workflow_create
from tests import people
from tests.wire.bundles import make_bundle

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
PRICES = b"start,end,price_per_kwh\n2026-08-20T00:00Z,2026-08-20T01:00Z,0.1\n"
RUN = {"controller_id": "box", "run_id": "1", "ts": "2026-08-20T12:00:00Z"}
PEOPLE = ("stranger", "submitter", "maintainer")
PARAMETER = re.compile(r"\(\?P<(\w+)>[^)]*\)|<(?:\w+:)?(\w+)>|\([^)]*\)")


def routes() -> list[str]:
    """Return each address once, as it stands in the URL configuration."""
    return sorted(set(_walk(get_resolver(), "")))


def _walk(resolver: URLResolver, prefix: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _walk(pattern, route)
        else:
            yield route


class World:
    """Three people, and one thing of each kind: the submitter's key, submission, published run, workflow and plan."""

    def __init__(self) -> None:
        self.submitter = people.make_user("submitter@example.org")
        self.maintainer = people.make_maintainer()
        key, self.secret = api_key_create(user=self.submitter, name="box", scope="all")
        raw = json.dumps(make_bundle()).encode()
        submission = submission_ingest(account=self.submitter, raw=raw).submission
        run = submission.runs.get()
        run_publish(run=run, by=self.maintainer, reason_code="checked", note="")
        alias = alias_set(kind=Alias.Kind.MODEL, raw="example-3b", name="Example 3B")
        board_rebuild()
        run.refresh_from_db()
        workflow, version = self._planned()
        market = Market.objects.get(slug="cz")
        prices_load_csv(market=market, raw=PRICES)
        point = market.points.all()[0]
        self.objects = {
            "feed": market.feeds.all()[0].pk,
            "market": market.pk,
            "pricedocument": point.document_id,
            "pricepoint": point.pk,
            "runrecord": runs_ingest(account=self.submitter, body=RUN)[0].run.pk,
            "scheduleversion": version.pk,
            "workflow": workflow.pk,
            "run": run.pk,
            "submission": submission.pk,
            "node": run.node_id,
            "decision": run.decisions.get().pk,
            "alias": alias.pk,
            "apikey": key.pk,
            "group": self.maintainer.groups.get().pk,
            "user": self.submitter.pk,
            "submitteraccount": self.submitter.pk,
        }
        self.values: dict[str, Any] = {
            "key_id": key.pk,
            "workflow_id": workflow.pk,
            "number": version.number,
            "controller_id": "box",
            "market_id": market.pk,
            "run_id": run.pk,
            "record_id": self.objects["runrecord"],
            "submission_id": submission.pk,
            "config_key": run.config_key,
            "node_hash": run.node.node_hash,
            "slug": "three-readings",
            "version": 1,
            "name": "rows.jsonl",
            "token": "damaged",
            "uid": "damaged",
            "id": self.submitter.pk,
            "content_type_id": ContentType.objects.get_for_model(User).pk,
            "history_id": alias.history.latest().pk,
            "app_label": "bench",
            "url": "nothing",
        }

    def _planned(self) -> tuple[Workflow, ScheduleVersion]:
        fields: dict[str, Any] = {
            "name": "nightly",
            "framework": "command",
            "deadline": "by 7am",
            "recurrence": "daily",
        }
        workflow = workflow_create(account=self.submitter, est_duration_s=3600.0, nameplate_watts=300.0, **fields)
        version = account_plan(account=self.submitter)
        assert version is not None
        return workflow, version

    def url(self, route: str) -> str:
        """Fill the address with things that exist; admin pages get one of their own model."""
        parts = route.split("/")
        model = parts[2] if parts[0] == "admin" and len(parts) > 2 else ""
        values = self.values | {"object_id": self.objects.get(model)}
        unnamed = iter(("object_id", "history_id"))
        path = PARAMETER.sub(lambda name: str(values[name[1] or name[2] or next(unnamed)]), route)
        return "/" + path.replace("^", "").rstrip("$")

    def client(self, person: str) -> Client:
        """The same person in the browser and as a program."""
        if person == "stranger":
            return Client(raise_request_exception=False)
        if person == "machine":
            return Client(headers={"x-api-key": self.secret})
        user: User = getattr(self, person)
        access = login_open(user=user).access_token
        client = Client(headers={"authorization": f"Bearer {access}"}, raise_request_exception=False)
        client.force_login(user)
        return client
