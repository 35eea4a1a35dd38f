"""ksqlDB's own cases, by family.

`python -m tests.conformance.ksql CASES.jsonl [--engine driver|spark] [--family F] [--json OUT]`

A case passes where every topic that it names holds exactly the records that it expects, in their
order, with key, value, timestamp, window and headers: each record of its input is a batch, and of
what one batch writes any order will do. In the driver a batch is a step of the kernel, on Spark a
micro-batch of a streaming query that runs as any other (`ksql_spark`), and cases that need no
event time share one (`ksql_together`). Where a case has several queries, each takes all of its
input before the next begins, as in ksqlDB's own runner; a script of statements and assertions lets
every record through all of its queries at once.

What a case asks by SELECT is answered in this process, whatever the engine, as `penstock sql`
does: on Spark the queries that write the tables asked for run there, and a case that has none
(it only inserts and asks, or is refused) leaves Spark nothing to do. The report says how many.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any

from tests.conformance.ksql_case import Case, load_judge, read_cases
from tests.conformance.ksql_run import Outcome, outcome_of
from tests.conformance.runner import Engine

Report = dict[str, dict[str, dict[str, Any]]]
PARTS = ("families", "quirk", "limit")


def outcomes(cases: Iterable[Case], engine: Engine = "driver") -> Iterator[Outcome]:
    """Run cases; give what came of each, on Spark as they are done."""
    judge = load_judge()
    if engine == "driver":
        yield from (outcome_of(case, judge) for case in cases)
        return
    # Without Spark nothing of it need be loaded.
    from tests.conformance.ksql_together import outcomes_on_spark  # noqa: PLC0415

    yield from outcomes_on_spark(cases, judge)


def run_cases(cases: Iterable[Case], engine: Engine = "driver") -> tuple[Report, Mapping[str, str]]:
    """Run cases; give the counts by family, and why those failed that did."""
    return counted(list(outcomes(cases, engine)))


def counted(found: Iterable[Outcome]) -> tuple[Report, Mapping[str, str]]:
    """Give the counts by family, and why those cases failed that did."""
    report: Report = {part: {} for part in PARTS}
    reasons: dict[str, str] = {}
    for outcome in found:
        part, family = outcome.case.entry
        entry = report[part].setdefault(family, {"required": 0, "passed": 0, "failed": []})
        entry["required"] += 1
        if outcome.wrong:
            entry["failed"].append(outcome.case.id)
            reasons[outcome.case.id] = outcome.wrong
        else:
            entry["passed"] += 1
    return report, reasons


def costs(found: Sequence[Outcome]) -> dict[str, Any]:
    """Give how many cases had queries to run, and the seconds that one of those took."""
    seconds = [outcome.seconds for outcome in found if outcome.queries]
    return {
        "cases": len(found),
        "with queries": len(seconds),
        "median seconds": round(median(seconds), 2) if seconds else None,
        "most seconds": round(max(seconds), 2) if seconds else None,
    }


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


def sampled(cases: Iterable[Case], least: int, share: int = 0, seed: int = 0) -> list[Case]:
    """Choose cases of every family: the `least` number, or one of so many as `share` says.

    Which ones is decided by their ids alone, so that others beside them change nothing.
    """
    families: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        families.setdefault(case.entry, []).append(case)
    chosen: list[Case] = []
    for members in families.values():
        count = max(least, len(members) // share if share else 0)
        drawn = sorted(members, key=lambda case: sha256(f"{seed} {case.id}".encode()).digest())
        chosen += drawn[:count]
    return chosen


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="tests.conformance.ksql")
    parser.add_argument("cases", type=Path)
    parser.add_argument("--engine", choices=("driver", "spark"), default="driver")
    parser.add_argument("--family")
    parser.add_argument("--id", action="append", help="only this case; may be given again")
    parser.add_argument("--sample", type=int, help="so many cases of every family")
    parser.add_argument("--seed", type=int, default=0, help="another sample for every number")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--reasons", action="store_true", help="say why cases failed, as they do")
    given = parser.parse_args(arguments)
    cases = [
        case
        for case in read_cases(given.cases)
        if (given.family is None or case.entry[1] == given.family)
        and (given.id is None or case.id in given.id)
    ]
    if given.sample is not None:
        cases = sampled(cases, given.sample, seed=given.seed)
    found: list[Outcome] = []
    for outcome in outcomes(cases, given.engine):
        found.append(outcome)
        if given.reasons and outcome.wrong:
            case = outcome.case
            words = f"{case.id} [{case.entry[1]}] {case.tree['name']}"
            print(f"{words}: {outcome.wrong[:500]}", flush=True)
    report, _ = counted(found)
    print(table(report))
    spent = costs(found)
    print(", ".join(f"{name}: {number}" for name, number in spent.items()))
    if given.json is not None:
        given.json.write_text(json.dumps({**report, "run": spent}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
