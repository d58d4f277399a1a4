"""The spool under many faults at once: kills, lost answers, refusals and outages; nothing is lost and nothing twice."""

import random
import socket
import subprocess
import sys
import time
from collections import Counter
from urllib.parse import urlsplit

import pytest
from asyncenergy_controller.reporting import open_spool
from asyncenergy_controller.server import ServerClient

from tests.controller.report_server import LOST_ANSWER, report_server, settings_for, slow

pytestmark = pytest.mark.campaign
SAMPLES = 30
FAULTS = [
    None,
    None,
    LOST_ANSWER,
    slow(0.05),
    (500, b"<html>boom</html>"),
    (503, {"detail": "busy", "code": "busy"}),
    (429, {"detail": "slower", "code": "throttled"}),
    (401, {"detail": "who are you", "code": "not_authenticated"}),
    (404, b"<html>no such page</html>"),
]
CHILD = f"""
import itertools, sys
from datetime import UTC, datetime
from asyncenergy_controller.reporting import Ack, RunRecord, open_spool
from asyncenergy_controller.server import ServerClient
from asyncenergy_controller.settings import load_settings
settings, name = load_settings(), sys.argv[1]
spool = open_spool(settings)
samples = [{{"ts": f"2026-12-01T03:00:{{n:02d}}.000+00:00", "power_w": 1.0}} for n in range({SAMPLES})]
with ServerClient(settings, attempts=1) as client:
    for number in itertools.count():
        run_id, at = f"{{name}}-{{number}}", datetime.now(UTC)
        spool.put_run(RunRecord(controller_id="box", run_id=run_id, ts=at), samples)
        print(run_id, flush=True)
        spool.put_ack(Ack(schedule_version=1, event="finished", workflow_id="w", at=at, occurrence_id=run_id))
        print("ack " + run_id, flush=True)
        spool.drain(client, at_once=True)
"""


def test_the_server_of_these_tests_takes_no_report_whose_sender_died_before_its_body():
    with report_server() as server:
        with socket.create_connection(("127.0.0.1", urlsplit(server.url).port)) as sender:
            sender.sendall(b"POST /api/v1/schedule/ack HTTP/1.1\r\nContent-Length: 40\r\n\r\n")
            sender.shutdown(socket.SHUT_WR)
            assert sender.recv(1) == b""
        assert server.calls == server.acks == []


def short_life(env, name, chance):
    """A process that keeps and sends reports until it is killed, once it kept one; return what it said was kept."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, name], env=env, stdout=subprocess.PIPE, text=True)
    first = child.stdout.readline()
    time.sleep(chance.uniform(0.0, 0.25))
    child.kill()
    said, _ = child.communicate()
    return (first + said).split("\n")[:-1]


def test_twenty_kills_and_a_faulty_server_lose_nothing_and_count_nothing_twice(tmp_path):
    chance = random.Random(6)
    with report_server() as server:
        settings = settings_for(server, tmp_path)
        env = {
            "ASYNCENERGY_API_URL": server.url,
            "ASYNCENERGY_API_KEY": "ae_key",
            "ASYNCENERGY_STATE_DIR": str(settings.state_dir),
            "ASYNCENERGY_CONFIG_DIR": str(settings.config_dir),
            "PATH": "/usr/bin",
        }
        kept = []
        for life in range(20):
            with server.lock:
                server.faults = chance.choices(FAULTS, k=6)
            kept += short_life(env, f"life{life}", chance)
        server.faults = []
        spool = open_spool(settings)
        with ServerClient(settings) as client:
            assert spool.drain(client, at_once=True).left == 0
        runs = {line for line in kept if not line.startswith("ack ")}
        acks = {line.removeprefix("ack ") for line in kept if line.startswith("ack ")}
        told = Counter(ack["occurrence_id"] for ack in server.acks)
        print(f"\n{len(runs)} runs and {len(acks)} acks kept over 20 kills; {len(server.calls)} calls, 0 lost")
        assert len(runs) >= 20
        assert runs <= server.runs.keys()
        assert acks <= told.keys()
        assert set(told.values()) == {1}
        assert {len(server.samples_of(name)) for name in server.runs} == {SAMPLES}
        assert spool.set_aside() == []
