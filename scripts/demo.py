"""One command from nothing to a row on the board: measure, submit, publish, look. `make demo` calls this.

Everything lies under var/demo, apart from a real site's data. DEMO_EXIT=1 ends once the row is on the board.
"""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import httpx2
import psutil
from asyncenergy_controller.engine.embedded import embedded_engine
from asyncenergy_controller.meters.select import open_meter

from scripts.serve import ROOT, site

DEMO_DIR = ROOT / "var" / "demo"
WAIT_LIMIT_S = 60.0
CALL_LIMIT_S = 30.0


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    started = time.monotonic()
    os.environ.update(_environment(port := _free_port(8000)))
    say("Preparing the site and its reference rows")
    manage("migrate", "--no-input", "-v", "0")
    manage("load_reference")
    with site("127.0.0.1", port, tick_every_s=2.0) as address, embedded_engine(threads=_idle_cores()) as engine:
        _wait_for(lambda: _healthy(address), "the site to answer")
        os.environ.update(_account(address))
        say(f"Measuring {engine['model']} on this machine")
        run = measure(engine["url"])
        submission = submit(run["run_id"])
        say("Deciding as a maintainer would")
        manage("publish", submission["id"])
        row = _wait_for(lambda: _row(address, submission), "the row to reach the board")
        _tell(address, row, time.monotonic() - started)
        if os.environ.get("DEMO_EXIT") != "1":
            _until_interrupted()


def measure(engine_url: str) -> dict[str, Any]:
    """Run the smoke suite for real; without a meter its energy is simulated and says so."""
    with closing(open_meter("auto")) as meter:
        kind = "simulated" if meter.name == "null" else "auto"
    if kind == "simulated":
        say("No energy meter here: the energy of this demo is SIMULATED; answers, tokens and times are real")
    result: dict[str, Any] = controller("bench", "smoke", "--engine-url", engine_url, "--meter", kind)
    return result


def submit(run_id: str) -> dict[str, Any]:
    controller("bench", "opt-in", reports=False)
    sent = controller("bench", "submit", run_id)
    answer: dict[str, Any] = sent[0]["answer"]
    return answer


def controller(*arguments: str, reports: bool = True) -> Any:
    """Call the controller's command line; its talk stays on the terminal, its JSON comes back."""
    command = [sys.executable, "-m", "asyncenergy_controller", *arguments, *(["--json"] if reports else [])]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, cwd=ROOT, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(f"`{' '.join(arguments)}` ended with {done.returncode}:\n{done.stdout}")
    return json.loads(done.stdout) if reports else None


def manage(*arguments: str) -> None:
    subprocess.run([sys.executable, "manage.py", *arguments], cwd=ROOT, check=True, stdin=subprocess.DEVNULL)


def say(sentence: str) -> None:
    print(f"== {sentence}", flush=True)


def _environment(port: int) -> dict[str, str]:
    DEMO_DIR.mkdir(parents=True, exist_ok=True)
    return {
        "DEMO": "1",
        "EMAIL_URL": "dummymail://",
        "ASYNCENERGY_ENV": "embedded",
        "ASYNCENERGY_VAR_DIR": str(DEMO_DIR),
        "ASYNCENERGY_DATA_DIR": str(DEMO_DIR / "controller"),
        "ASYNCENERGY_CONFIG_DIR": str(DEMO_DIR / "controller-config"),
        "ASYNCENERGY_API_URL": f"http://127.0.0.1:{port}",
    }


def _free_port(wanted: int) -> int:
    """The wanted port, or any free one where somebody else has it."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise OSError("no free port on 127.0.0.1")


def _idle_cores() -> int:
    """The engine's threads wait for one another at every step: on a core that others use, all of them crawl."""
    idle = 1 - psutil.cpu_percent(interval=1.0) / 100
    return max(1, round(idle * len(psutil.Process().cpu_affinity() or [0])))


def _account(address: str) -> dict[str, str]:
    """A fresh account for each demo, as a newcomer would sign up."""
    login = {"email": f"demo-{secrets.token_hex(4)}@example.org", "password": secrets.token_urlsafe(16)}
    httpx2.post(f"{address}/auth/signup", json=login, timeout=CALL_LIMIT_S).raise_for_status()
    return {"ASYNCENERGY_EMAIL": login["email"], "ASYNCENERGY_PASSWORD": login["password"]}


def _healthy(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/health", timeout=2).status_code == 200
    except httpx2.TransportError:
        return False


def _row(address: str, submission: dict[str, Any]) -> dict[str, Any] | None:
    """The row of the run's own configuration: the reference rows have the same model."""
    run_id = submission["url"].rstrip("/").rsplit("/", 1)[-1]
    run = _get(f"{address}/api/v1/bench/runs/{run_id}")
    board = _get(f"{address}/api/v1/bench/leaderboard", task=run["task"])
    rows: list[dict[str, Any]] = [*board["results"], *board.get("simulated", ())]
    return next((row for row in rows if row["config_key"] == run["config_key"]), None)


def _get(url: str, **query: str) -> Any:
    return httpx2.get(url, params=query, timeout=CALL_LIMIT_S).raise_for_status().json()


def _wait_for(what: Any, name: str) -> Any:
    give_up_at = time.monotonic() + WAIT_LIMIT_S
    while time.monotonic() < give_up_at:
        if found := what():
            return found
        time.sleep(0.5)
    sys.exit(f"Waited {WAIT_LIMIT_S:.0f} s for {name}, in vain. The folder {DEMO_DIR} holds what there is.")


def _tell(address: str, row: dict[str, Any], took_s: float) -> None:
    word = " (simulated energy)" if row["energy_source"] == "simulated" else ""
    jpc = row["joules_per_correct_answer"]
    shown = f"{jpc:.1f} J per correct answer{word}" if jpc is not None else "no correct answer, so no headline"
    say(f"On the board after {took_s:.0f} s: {row['model']}, accuracy {row['accuracy']:.1%}, {shown}")
    say(f"Look: {address}/bench/leaderboard/?task=arith")
    say(f"Rows measured on an H200: {address}/bench/leaderboard/?task=arith_recorded")


def _until_interrupted() -> None:
    say("The site stays up until Ctrl-C")
    try:
        signal.pause()
    except KeyboardInterrupt:
        say("Stopping")


if __name__ == "__main__":
    main()
