"""Meters: one protocol, one class per device; a channel that cannot be measured is None with a reason."""
