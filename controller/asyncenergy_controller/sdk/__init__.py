"""Async Energy in your own Python: wait for the cheap hours, and measure what your work draws."""
