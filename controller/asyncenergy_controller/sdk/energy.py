"""The SDK's front door."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from asyncenergy_controller.reporting import Counts, Drained
from asyncenergy_controller.sdk.measure import About, Measure
from asyncenergy_controller.sdk.naming import fingerprint
from asyncenergy_controller.sdk.sender import Sender
from asyncenergy_controller.sdk.window import Window, said, seconds, window_of
from asyncenergy_controller.settings import load_settings


class AsyncEnergy:
    """Wait for the cheap hours, and measure what your work draws.

    What is not given comes from the environment and config.toml, as for the command. Safe to use from any number of
    threads and tasks. Reports are kept on disk first and sent in the background; `flush` sends them now.
    """

    def __init__(
        self,
        api_key: str | None = None,
        *,
        api_url: str | None = None,
        meter: str | None = None,
        device: str | None = None,
        controller_id: str | None = None,
        state_dir: Path | None = None,
    ) -> None:
        """`meter` and `device` choose what is measured, as `--meter` and `--device` do. Raises SettingsError."""
        self._settings = load_settings(
            api_key=api_key,
            api_url=api_url,
            meter=meter,
            device=device,
            controller_id=controller_id,
            state_dir=state_dir,
        )
        self._sender = Sender(self._settings)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Wait a little for reports under way, then send no more; what is left is sent at the next use."""
        self._sender.close()

    def next_window(
        self,
        duration_s: float | timedelta,
        *,
        deadline: str | datetime,
        earliest_start: str | datetime | None = None,
        watts: float | None = None,
        name: str | None = None,
    ) -> Window:
        """Return the cheapest time for work of this length that ends by `deadline`.

        Times are datetimes, or words in your account's timezone: "by 7am", "tomorrow 18:00", "in 4 h". `watts` is
        what the work draws, until runs measured under the same `name` tell. Raises ServerError: RequestRefused for a
        time that can't be read, ServerUnreachable where nobody answers.
        """
        asked = {
            "est_duration_s": seconds(duration_s),
            "deadline": said(deadline),
            "earliest_start": said(earliest_start) if earliest_start is not None else None,
            "nameplate_watts": watts,
            "fingerprint": fingerprint(self._settings, name) if name else None,
        }
        window = window_of(
            self._sender.client.advise({key: value for key, value in asked.items() if value is not None})
        )
        self._sender.send_soon()
        return window

    async def next_window_async(
        self,
        duration_s: float | timedelta,
        *,
        deadline: str | datetime,
        earliest_start: str | datetime | None = None,
        watts: float | None = None,
        name: str | None = None,
    ) -> Window:
        """The same, while other tasks go on."""
        return await asyncio.to_thread(
            self.next_window, duration_s, deadline=deadline, earliest_start=earliest_start, watts=watts, name=name
        )

    def measure(
        self, name: str | None = None, *, workflow_id: str | None = None, work_unit_kind: str | None = None
    ) -> Measure:
        """Measure a block (`with`, `async with`) or, as a decorator, every call of a function.

        Runs of one `name` are counted as the same work; the server sees a digest of it. A failure inside is reported
        as an error and goes on; Ctrl-C and cancellation are reported as preempted. A block inside another is part of
        it and reported as well. Of blocks side by side no energy is reported: it can't be told apart.
        """
        if not isinstance(name, str | None):
            raise TypeError("a decorator is written with parentheses: @energy.measure()")

        return Measure(self._settings, self._sender, About(name, workflow_id, work_unit_kind))

    def flush(self) -> Drained:
        """Send all reports that wait, now; never raises for what the server does."""
        return self._sender.flush()

    def waiting(self) -> Counts:
        """Reports that wait. Raises SpoolError where that can't be read."""
        return self._sender.waiting()
