"""Client of the Async Energy server: one method a call of the wire contract."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

from asyncenergy_controller.server.connection import Connection
from asyncenergy_controller.server.errors import ServerFailed
from asyncenergy_controller.server.login import Login
from asyncenergy_controller.server.schedule import Schedule, decode_schedule
from asyncenergy_controller.server.values import finite_number, text
from asyncenergy_controller.settings import Settings, fits_header

ATTEMPTS = 3
PAGE = 500
CAP_WITHIN_S = 5.0

Json = Mapping[str, Any]


@dataclass(frozen=True)
class RecommendedCap:
    """The server's power cap in W, None where nothing was measured; `source` is `own_runs` or `gpu_class`."""

    cap_w: float | None
    source: str | None


class ServerClient:
    """One server, one account. Every call has a time limit, and every one of them may be repeated."""

    def __init__(self, settings: Settings, *, attempts: int = ATTEMPTS) -> None:
        """`attempts` of each call while nobody answers; 1 for callers that come again by themselves."""
        self._connection = Connection(settings, attempts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._connection.close()

    def signup(self, email: str, password: str) -> Login:
        """Make an account and log in. Raises RequestRefused (`email_taken`)."""
        return self._connection.login_by("/auth/signup", email, password)

    def login(self, email: str, password: str) -> Login:
        """Log in and keep the tokens. Raises NotLoggedIn for a wrong password."""
        return self._connection.login_by("/auth/login", email, password)

    def submit_bundle(self, raw: bytes) -> dict[str, Any]:
        """Send a bundle; the server knows a run it has, so sending it twice stores it once.

        Returns the server's answer: `id`, `status` (accepted, quarantined, duplicate), `flags`, `url`, `runs`.
        """
        return self._asked("POST", "/api/v1/bench/submissions", content=raw)

    def schedule(self, after: int, *, controller_id: str | None = None) -> Schedule | None:
        """The newest schedule above version `after` (-1 for any), None where there is none.

        With `controller_id` only what that box may run. Raises ServerError, among them ScheduleUnreadable.
        """
        named = controller_id or ""
        headers = {"X-Controller-Id": named} if named and fits_header(named) else {}
        params: dict[str, Any] = {"after": after} | ({"controller_id": named} if named and not headers else {})
        answer = self._asked("GET", "/api/v1/schedule", params=params, headers=headers)
        return decode_schedule(answer) if answer else None

    def workflows(self) -> list[dict[str, Any]]:
        """All workflows of the account, as the server describes them."""
        found: list[dict[str, Any]] = []
        while True:
            page = self._asked("GET", "/api/v1/workflows", params={"limit": PAGE, "offset": len(found)})
            results = page.get("results")
            if not isinstance(results, list) or not all(isinstance(row, dict) for row in results):
                raise ServerFailed("The server's list of workflows can't be read; is this an Async Energy server?")
            found += results
            if not results or not page.get("next"):
                return found

    def register_workflow(self, body: Json, idempotency_key: str) -> dict[str, Any]:
        """Make a workflow; the same key makes it once. Returns it with its `id`. Raises RequestRefused."""
        headers = {"Idempotency-Key": idempotency_key}
        return self._asked("POST", "/api/v1/workflows", json=body, headers=headers)

    def post_runs(self, records: Sequence[Json]) -> dict[str, str]:
        """Report runs; a record that is known changes nothing. Returns the server's id of each, by run_id.

        One record that can't be read refuses them all: RequestRefused, nothing stored.
        """
        answer = self._asked("POST", "/api/v1/runs", json=records)
        runs = answer.get("runs")
        known = [run for run in runs if isinstance(run, dict)] if isinstance(runs, list) else []
        ids = {str(run.get("run_id")): str(run["id"]) for run in known if run.get("id")}
        if missing := [str(record["run_id"]) for record in records if record["run_id"] not in ids]:
            raise ServerFailed(f"The server's answer names no id for run {missing[0]}; it is sent again later.")
        return ids

    def post_samples(self, server_id: str, samples: Sequence[Json]) -> int:
        """Append samples (at most 10,000) to a run by its id at the server; a known `ts` is not stored twice.

        Returns how many were new. Raises RequestRefused with status 404 for a run that the server doesn't know.
        """
        answer = self._asked("POST", f"/api/v1/runs/{quote(server_id, safe='')}/samples", json={"samples": samples})
        return int(finite_number(answer.get("accepted")) or 0)

    def post_ack(self, body: Json) -> dict[str, Any]:
        """Say that a run started, finished or failed; saying it again changes nothing."""
        return self._asked("POST", "/api/v1/schedule/ack", json=body)

    def advise(self, body: Json) -> dict[str, Any]:
        """When a job would cost least, without registering it; one that doesn't fit is answered with a reason."""
        return self._asked("POST", "/api/v1/advise", json=body)

    def recommended_cap(self, node_hash: str) -> RecommendedCap:
        """The cap for this hardware; a job waits for the answer, so not for long.

        Raises RequestRefused with status 404 for a node that the server doesn't know.
        """
        path = f"/api/v1/bench/nodes/{quote(node_hash, safe='')}/recommended-cap"
        answer = self._asked("GET", path, within_s=CAP_WITHIN_S)
        return RecommendedCap(finite_number(answer.get("recommended_cap_w")), text(answer.get("source")))

    def upsert_node(self, body: Json) -> dict[str, Any]:
        """Name this hardware: `node_hash`, and `gpu_name`, `driver_version`, `vram_gb`, `cpu_model`, `ram_gb`."""
        return self._asked("POST", "/api/v1/bench/nodes", json=body)

    def _asked(self, method: str, path: str, **body: Any) -> dict[str, Any]:
        return self._connection.repeated(method, path, **body)
