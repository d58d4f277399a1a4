"""Async Energy in your own Python: wait for the cheap hours, and measure what your work draws."""

from asyncenergy_controller.sdk.energy import AsyncEnergy
from asyncenergy_controller.sdk.measure import Measure, Run
from asyncenergy_controller.sdk.window import NoWindow, Window

__all__ = ["AsyncEnergy", "Measure", "NoWindow", "Run", "Window"]
