"""Quickstart and how it works: what they say is what the server does."""

import html
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.test import Client

from accounts.services import api_key_create
from asyncenergy import clock
from scheduling.models import Occurrence, Workflow
from scheduling.services.planning import account_plan
from tests.bench.pages_html import read
from tests.people import make_user
from tests.scheduling.test_operator_calls import DOCUMENTATION

PROGRAMS = f"{Path(sys.executable).parent}:/usr/bin:/bin"
BLOCK = re.compile(r'<code data-run="(\w+)">(.*?)</code>', re.DOTALL)


def zone_at_noon() -> str:
    """Where it is about noon now: "by 7am" is never a moment away. In these names, east of Greenwich is minus."""
    return f"Etc/GMT{clock.now().hour - 12:+d}"


def lines(client) -> dict[str, str]:
    """The lines to paste, by name, in the order of the page."""
    return {name: html.unescape(text) for name, text in BLOCK.findall(client.get("/quickstart/").text)}


@pytest.mark.campaign
@pytest.mark.django_db(transaction=True, serialized_rollback=True)
def test_the_lines_of_the_quickstart_do_what_the_page_says(live_server, tmp_path):
    account = make_user("new@example.org", timezone=zone_at_noon())
    _, key = api_key_create(user=account, name="box", scope="all")
    place = {
        "ASYNCENERGY_API_URL": live_server.url,
        "ASYNCENERGY_API_KEY": key,
        "HOME": str(tmp_path),
        "PATH": PROGRAMS,
    }
    said = lines(Client(SERVER_NAME="localhost"))
    assert list(said) == ["advise", "register", "check", "keep", "schedule"]
    assert '"feasible":true' in paste(said["advise"], place)
    assert Workflow.objects.count() == 0
    paste(said["register"], place)
    workflow = Workflow.objects.get()
    assert (workflow.account, workflow.name, workflow.recurrence) == (account, "nightly-embeddings", "daily")
    account_plan(account=account)
    assert "nightly-embeddings" in paste(said["check"], place)
    paste(said["keep"], place)
    service = {name: place[name] for name in ("HOME", "PATH")}
    assert "nightly-embeddings" in paste(said["check"], service)
    assert (tmp_path / ".config/async-energy/config.toml").stat().st_mode & 0o777 == 0o600
    answer = paste(said["schedule"], place)
    assert str(Occurrence.objects.order_by("deadline")[0].pk) in answer
    assert '"prediction_method":"nameplate"' in answer


def paste(text: str, environment: dict[str, str]) -> str:
    """Run lines as somebody's shell does."""
    ran = subprocess.run(["bash", "-eu", "-c", text], capture_output=True, text=True, env=environment, timeout=30)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.mark.django_db
def test_the_lines_name_the_address_of_this_site(client):
    assert "export ASYNCENERGY_API_URL=http://testserver\n" in client.get("/quickstart/").text


@pytest.mark.django_db
def test_the_program_that_checks_a_certificate_is_that_of_the_documentation(client):
    program = read(client.get("/how-it-works/")).html
    shown = html.unescape(re.search(r'class="code"><code>(.*?)</code>', program, re.DOTALL)[1])
    assert shown in DOCUMENTATION.read_text()
    assert "def check(certificate):" in shown


@pytest.mark.django_db
def test_strangers_are_led_to_what_they_may_read_and_others_to_their_plan(client, submitter):
    links = read(client.get("/")).values("href")
    assert "/how-it-works/" in links
    assert "/schedule/" not in links
    client.force_login(submitter)
    assert "/schedule/" in read(client.get("/")).values("href")
