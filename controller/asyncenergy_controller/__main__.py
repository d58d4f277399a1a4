"""`python -m asyncenergy_controller` is `async-energy-controller`."""

from asyncenergy_controller.cli import main

main()
