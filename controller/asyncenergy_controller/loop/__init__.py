"""The loop: ask for the schedule, run what is due, once, and report it."""
