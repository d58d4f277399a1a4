"""Async Energy controller: measures and runs AI work on your own machine."""
