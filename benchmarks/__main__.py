"""Run the benchmarks: `python -m benchmarks` all of them, `python -m benchmarks NAME...` those alone.

Each runs in a process of its own, as several of them set up a site, which a process can do once.
"""

import pkgutil
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module

import benchmarks


def main(names: Sequence[str]) -> None:
    modules = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    known = [name for name in modules if hasattr(import_module(f"benchmarks.{name}"), "main")]
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}: choose {', '.join(known)}")
    failed = [name for name in names or known if not _has_run(name)]
    if failed:
        sys.exit(f"these ended with an error: {', '.join(failed)}")


def _has_run(name: str) -> bool:
    print(f"== {name} ==", flush=True)
    code = f"from benchmarks.{name} import main; main()"
    return subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


if __name__ == "__main__":
    main(sys.argv[1:])
