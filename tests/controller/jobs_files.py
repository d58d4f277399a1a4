"""A jobs.json as its owner keeps it."""

import json

REPORT = "2bac93f6-8d99-43ce-93ad-b64a8b0e603c"
OTHER = "7d6f7f0e-3f7c-4a53-8d27-7a1f9e4c1b11"


def command(*words, **more):
    """One entry that runs a program."""
    return {"framework": "command", "request": {"command": list(words) or ["true"]}} | more


def write_jobs(path, jobs, mode=0o600):
    """Write jobs, or a text as it is, with that mode."""
    path.write_text(jobs if isinstance(jobs, str) else json.dumps(jobs))
    path.chmod(mode)
    return path
