"""Benchmarks: a plan is run, kept on disk as it happens, and becomes a bundle and a report."""
