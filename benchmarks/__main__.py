"""``python -m benchmarks NAME [options]`` runs ``benchmarks/NAME.py``; without a name, every one of them in turn.

A benchmark is a module with ``main(arguments) -> int``, whose docstring's first line says what it measures.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Sequence

import benchmarks


def main(arguments: Sequence[str]) -> int:
    """Runs the benchmark that the first argument names; the exit status is that of the worst."""
    names = sorted(module.name for module in pkgutil.iter_modules(benchmarks.__path__) if module.name != "__main__")
    if not arguments:
        return max((_run(name, ()) for name in names), default=0)
    if arguments[0] in names:
        return _run(arguments[0], arguments[1:])
    wanted = arguments[0] in ("-h", "--help")
    print(
        f"python -m benchmarks [NAME [options]]\nNAME is one of: {', '.join(names)}",
        file=sys.stdout if wanted else sys.stderr,
    )
    return 0 if wanted else 2


def _run(name: str, arguments: Sequence[str]) -> int:
    print(f"== {name}", flush=True)
    status: int = importlib.import_module(f"benchmarks.{name}").main(arguments)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
