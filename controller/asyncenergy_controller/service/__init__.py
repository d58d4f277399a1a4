"""The controller as a service of systemd: its unit, its state, its log."""
