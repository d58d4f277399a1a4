"""What an editor and mypy know of the SDK: these functions are checked by `make check`."""

from importlib.resources import files
from typing import assert_type

from asyncenergy_controller import AsyncEnergy
from asyncenergy_controller.sdk import Run, Window


def typed(energy: AsyncEnergy) -> None:
    @energy.measure("sum")
    def add(one: int, *, other: int = 2) -> int:
        return one + other

    assert_type(add(1, other=2), int)
    assert_type(energy.next_window(60, deadline="by 7am"), Window)
    with energy.measure() as run:
        assert_type(run, Run)
        assert_type(run.energy_wh, float | None)


async def typed_async(energy: AsyncEnergy) -> None:
    @energy.measure()
    async def ask(question: str) -> list[str]:
        return [question]

    assert_type(await ask("?"), list[str])
    assert_type(await energy.next_window_async(60, deadline="by 7am"), Window)
    async with energy.measure() as run:
        assert_type(run, Run)


def test_the_package_says_that_it_has_types():
    assert files("asyncenergy_controller").joinpath("py.typed").is_file()
