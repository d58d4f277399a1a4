"""jobs.json: what this machine runs, and nothing else does it run."""
