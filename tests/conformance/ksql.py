"""ksqlDB's own cases, by family.

`python -m tests.conformance.ksql CASES.jsonl [--engine driver|spark] [--family F] [--json OUT]`
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.conformance.ksql_case import Case, load_judge, read_cases
from tests.conformance.ksql_run import verdict
from tests.conformance.runner import Engine

Report = dict[str, dict[str, dict[str, Any]]]
PARTS = ("families", "quirk", "limit")


def run_cases(cases: Iterable[Case], engine: Engine = "driver") -> tuple[Report, Mapping[str, str]]:
    """Run cases; give the counts by family, and why those failed that did."""
    judge = load_judge()
    report: Report = {part: {} for part in PARTS}
    reasons: dict[str, str] = {}
    for case in cases:
        part, family = case.entry
        entry = report[part].setdefault(family, {"required": 0, "passed": 0, "failed": []})
        entry["required"] += 1
        try:
            wrong = verdict(case, judge, engine)
        except Exception as error:  # noqa: BLE001  # a crash is a failure of its case alone
            wrong = f"crashed: {type(error).__name__}: {error}"
        if wrong:
            entry["failed"].append(case.id)
            reasons[case.id] = wrong
        else:
            entry["passed"] += 1
    return report, reasons


def table(report: Report) -> str:
    """Give the counts as text."""
    lines = []
    for part in PARTS:
        for family, entry in sorted(report[part].items()):
            name = family if part == "families" else f"{part}: {family}"
            lines.append(f"{name:40} {entry['passed']:5} of {entry['required']:5}")
    entries = report["families"].values()
    passed, required = (sum(e[word] for e in entries) for word in ("passed", "required"))
    return "\n".join([*lines, f"{'all families':40} {passed:5} of {required:5}"])


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="tests.conformance.ksql")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--engine", choices=("driver", "spark"), default="driver")
    parser.add_argument("--family")
    parser.add_argument("--id", action="append", help="only this case; may be given again")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--reasons", action="store_true", help="say why cases failed")
    given = parser.parse_args(arguments)
    cases = [
        case
        for case in read_cases(given.cases)
        if (given.family is None or case.entry[1] == given.family)
        and (given.id is None or case.id in given.id)
    ]
    report, reasons = run_cases(cases, given.engine)
    if given.reasons:
        for case in cases:
            if case.id in reasons:
                print(f"{case.id} [{case.entry[1]}] {case.tree['name']}: {reasons[case.id][:500]}")
    print(table(report))
    if given.json is not None:
        given.json.write_text(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
