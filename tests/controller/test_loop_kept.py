"""The last schedule on disk, for the time without a server."""

import json
import stat

import pytest
from asyncenergy_controller.loop.kept import FILE, KeptSchedule, encoded
from asyncenergy_controller.server import decode_schedule

from tests.controller.loop_plans import at, placement, schedule, unplaced
from tests.controller.test_server_schedule import SCHEDULE

WHOSE = ["http://127.0.0.1:8000", "box"]
NIGHT = [(at(1), at(2)), (at(3), at(4))]
PLANS = [
    schedule(placement(), unplaced(), degraded=True),
    schedule(placement(pieces=NIGHT, cap_w=220.0, attempt=3)),
    schedule(placement(deadline=None, occurrence_id=None)),
    decode_schedule(SCHEDULE),
]


@pytest.fixture
def kept(tmp_path):
    return KeptSchedule(tmp_path, whose=WHOSE)


@pytest.mark.parametrize("plan", PLANS)
def test_a_schedule_comes_back_as_it_was(kept, tmp_path, plan):
    kept.write(plan)
    assert KeptSchedule(tmp_path, whose=WHOSE).read() == plan


@pytest.mark.parametrize("plan", PLANS)
def test_what_is_kept_is_json_of_the_wire(plan):
    assert decode_schedule(json.loads(json.dumps(encoded(plan)))) == plan


def test_a_schedule_of_another_server_or_box_is_none(kept, tmp_path):
    kept.write(PLANS[0])
    assert KeptSchedule(tmp_path, whose=["http://127.0.0.1:9000", "box"]).read() is None
    assert KeptSchedule(tmp_path, whose=["http://127.0.0.1:8000", "other"]).read() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"whose": null}', b'"text"'])
def test_a_file_that_cannot_be_read_is_none(kept, tmp_path, content):
    (tmp_path / FILE).write_bytes(content)
    assert kept.read() is None


def test_before_the_first_schedule_there_is_none(kept):
    assert kept.read() is None
    kept.forget()


def test_a_forgotten_schedule_is_gone(kept):
    kept.write(PLANS[0])
    kept.forget()
    assert kept.read() is None


def test_only_its_owner_reads_it(kept, tmp_path):
    kept.write(PLANS[0])
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
