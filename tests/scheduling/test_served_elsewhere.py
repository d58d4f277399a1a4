"""Controllers are told the same wherever the server's machine stands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ZONES = {"UTC": "10", "America/Los_Angeles": "3"}


def asked(zone: str) -> "subprocess.Popen[str]":
    env = {name: value for name, value in os.environ.items() if name != "TEST_DATABASE_URL"}
    env |= {"DJANGO_SETTINGS_MODULE": "tests.settings", "TZ": zone}
    command = [sys.executable, "-m", "tests.scheduling.told_elsewhere", zone]
    return subprocess.Popen(
        command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )


@pytest.mark.campaign
def test_schedule_and_proof_are_the_same_byte_for_byte_in_every_time_zone():
    """Prices were laid beside the wrong hours where the machine's zone was not the account's."""
    answers = {zone: process.communicate(timeout=300) for zone, process in [(z, asked(z)) for z in ZONES]}
    for zone, (_, noted) in answers.items():
        assert f"{ZONES[zone]} o'clock on this machine" in noted, noted
    schedule, proof = json.loads(answers["UTC"][0])
    assert {p["workflow_id"] for p in schedule["placements"] if p["feasible"]} == {"nightly", "charge", "weekly"}
    assert proof["lower_bound"] <= proof["cost"]
    assert len({told for told, _ in answers.values()}) == 1
