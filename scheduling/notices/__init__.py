"""Telling an account what went wrong: which events there are, and how a webhook is called without being misled."""
