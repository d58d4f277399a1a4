"""Run the benchmarks: `python -m benchmarks` all of them, `python -m benchmarks NAME...` those alone."""

import pkgutil
import sys
from collections.abc import Sequence
from importlib import import_module

import benchmarks


def main(names: Sequence[str]) -> None:
    known = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    unknown = set(names) - set(known)
    if unknown:
        sys.exit(f"there is no benchmark {', '.join(sorted(unknown))}: choose {', '.join(known)}")
    for name in names or known:
        module = import_module(f"benchmarks.{name}")
        if hasattr(module, "main"):
            print(f"== {name} ==")
            module.main()


main(sys.argv[1:])
