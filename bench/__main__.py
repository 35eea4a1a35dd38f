"""The numbers we publish: `python -m bench [NAME…] [--quick] [--results DIR]`."""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from bench import report
from bench.catalog import HOMES, NAMES, RESULTS, ROOT
from bench.details import sheets_of
from bench.result import Result, save
from bench.scale import Scale
from bench.table import show

_WIDTH = 150
_OPTIONS = {
    "engines": "nexmark: which, such as ours,spark,flink",
    "queries": "nexmark: which, such as q0,q5",
    "events": "nexmark: how many, such as 1000000",
    "disorder": "nexmark: by how many milliseconds events may be out of order",
    "batch": "nexmark: how many rows a batch has",
    "runs": "nexmark: how many runs count, beside the one that warms up",
    "last": "nexmark: how many milliseconds a batch of ours may last, whatever its rows",
}


def main(arguments: list[str]) -> int:
    """Run the named benches, or all, and write the page; give the number of those that failed."""
    given = _parser().parse_args(arguments)
    names = given.names or NAMES
    asked = {name: value for name in _OPTIONS if (value := getattr(given, name)) is not None}
    results = given.results or (None if given.quick else RESULTS)
    if len(names) == 1:
        result = measure(names[0], Scale(given.quick, given.folder, asked, results))
        console = Console(width=max(Console().width, _WIDTH))
        show(result, console)
        for sheet in sheets_of(result):
            sheet.show(console)
        if results is not None:
            save(result, results)
        return 0
    options = ["--folder", str(given.folder.resolve()), *(["--quick"] if given.quick else [])]
    for name, value in asked.items():
        options += [f"--{name}", value]
    if results is not None:
        options += ["--results", str(results.resolve())]
    # Each in a process of its own, so that none inherits another's memory, threads or session.
    command = [sys.executable, "-m", "bench"]
    failed = sum(subprocess.call([*command, name, *options], cwd=ROOT) != 0 for name in names)
    if results == RESULTS:
        report.main([])
    return failed


def measure(name: str, scale: Scale) -> Result:
    """Run one bench in this process."""
    result = importlib.import_module(HOMES.get(name, f"bench.{name}")).run(scale)
    assert isinstance(result, Result)
    return result


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[[], *NAMES], default=[])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument(
        "--results",
        type=Path,
        help="where the JSON goes (bench/results; with --quick nothing is kept without this)",
    )
    for name, told in _OPTIONS.items():
        parser.add_argument(f"--{name}", help=told)
    parser.add_argument(
        "--folder",
        type=Path,
        default=ROOT / "artifacts",
        help="where benches keep their files while they run: its disk is what is measured",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
