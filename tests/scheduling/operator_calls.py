"""Calls of an operator, in few words."""

JOB = {"name": "nightly", "framework": "command", "est_duration_s": 3600, "nameplate_watts": 300}


def create(box, **fields):
    answer = box.post("/api/v1/workflows", {**JOB, **fields})
    assert answer.status_code == 201, answer.json()
    return answer.json()
