"""Meters as the suite takes them: our own, and those of other packages where they are installed."""
