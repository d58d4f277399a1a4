"""Plans as the server makes them, for one job of one box on one night."""

from datetime import UTC, datetime, timedelta

from asyncenergy_controller.jobs.entry import JobEntry
from asyncenergy_controller.loop.slots import slots_of
from asyncenergy_controller.server import decode_schedule

WORKFLOW = "2bac93f6-8d99-43ce-93ad-b64a8b0e603c"
OTHER = "7d6f7f0e-3f7c-4a53-8d27-7a1f9e4c1b11"
OCCURRENCE = "01a230c6-672b-7b7c-9d9c-c72265b15d9f"
MIDNIGHT = datetime(2026, 12, 2, tzinfo=UTC)


def at(hours, minutes=0, seconds=0):
    """A time of the night, counted from midnight."""
    return MIDNIGHT + timedelta(hours=hours, minutes=minutes, seconds=seconds)


TWO, THREE, SEVEN, NEXT_MIDNIGHT = at(2), at(3), at(7), at(24)


def text(instant):
    return instant.isoformat()


def placement(start=TWO, end=THREE, *, deadline=SEVEN, pieces=None, **changes):
    """From two to three in the morning, due at seven."""
    spans = pieces or [(start, end)]
    reserved = sum((end - start for start, end in spans), timedelta())
    return {
        "workflow_id": WORKFLOW,
        "occurrence_id": OCCURRENCE,
        "start": text(spans[0][0]),
        "end": text(spans[-1][1]),
        "deadline": text(deadline) if deadline else None,
        "latest_start": text(deadline - reserved) if deadline else None,
        "pieces": [{"start": text(start), "end": text(end)} for start, end in spans],
        "feasible": True,
        "reason": "",
        "attempt": 1,
        "machine": "box",
        "predicted_wh": 100.0,
        **changes,
    }


def unplaced(reason="duration 5h > window 3h", **changes):
    return placement() | {"feasible": False, "start": None, "end": None, "pieces": [], "reason": reason} | changes


def body(*placements, version=7, valid_until=NEXT_MIDNIGHT, **changes):
    """A schedule as it is sent."""
    return {
        "id": "6c1f0e9a-0000-4000-8000-0000000000cc",
        "version": version,
        "valid_until": text(valid_until),
        "placements": list(placements),
        "fallback_policy": "deadline_latest_start",
        "degraded": False,
        **changes,
    }


def schedule(*placements, **changes):
    return decode_schedule(body(*placements, **changes))


def slots(*placements, **changes):
    return list(slots_of(schedule(*placements, **changes), "box"))


def entry(workflow_id=WORKFLOW, **values):
    given = {"name": "night-batch", "framework": "command", "request": {"command": ["true"]}, **values}
    return JobEntry.model_validate({"workflow_id": workflow_id, **given})
