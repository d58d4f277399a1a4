"""Prints what a controller is told and its proof, from a server whose machine stands in the zone given.

python -m tests.scheduling.told_elsewhere America/Los_Angeles
"""

import json
import os
import sys
import time
from datetime import UTC, datetime

import django
import time_machine
from django.db import connection
from django.test.utils import setup_test_environment

EVENING_BEFORE_THE_CHANGE = datetime(2026, 10, 24, 10, tzinfo=UTC)
OURS = {"controller_id": "box"}
WORK = {
    "nightly": {"est_duration_s": 4 * 3600.0, "deadline": "by 7am", "earliest_start": "8pm", "recurrence": "daily"},
    "charge": {"est_duration_s": 3000.0, "deadline": "by noon", "recurrence": "daily", **OURS, "interruptible": True},
    "weekly": {"est_duration_s": 5400.0, "deadline": "by sunday 10am", "recurrence": "weekly", **OURS},
}


def told() -> str:
    """Return the answers, with names in place of ids, which are drawn anew each time."""
    from scheduling.models import Occurrence
    from tests.people import key_client, make_user
    from tests.scheduling.people import make_market, make_workflow, plan

    now = EVENING_BEFORE_THE_CHANGE
    owner = make_user(timezone="Europe/Stockholm")
    make_market(
        *[0.2 + (i * 37 % 23) / 100 for i in range(96 * 4)], start=datetime(2026, 10, 24, tzinfo=UTC), minutes=15
    )
    workflows = [make_workflow(owner, now=now, name=name, **fields) for name, fields in WORK.items()]
    version = plan(owner, now)
    box = key_client(owner)
    answers = [box.get("/api/v1/schedule?after=-1").json(), box.get("/api/v1/schedule/1/certificate").json()]
    text = json.dumps(answers, indent=1)
    names = {str(version.pk): "the schedule", **{str(workflow.pk): workflow.name for workflow in workflows}}
    names |= {str(one.pk): f"{one.workflow.name} {one.key}" for one in Occurrence.objects.select_related("workflow")}
    for drawn, name in names.items():
        text = text.replace(drawn, name)
    return text


def main(zone: str) -> None:
    django.setup()
    setup_test_environment()
    connection.creation.create_test_db(verbosity=0, serialize=False)
    with time_machine.travel(EVENING_BEFORE_THE_CHANGE):  # it ticks: ids sort by the time they were made
        os.environ["TZ"] = zone  # both Django and the traveller have put theirs in its place
        time.tzset()
        print(f"{time.localtime().tm_hour} o'clock on this machine", file=sys.stderr)
        print(told())


if __name__ == "__main__":
    main(sys.argv[1])
