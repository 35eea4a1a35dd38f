"""Runs a file of conformance facts against a table of checks, and counts what holds.

Each suite is a module with a table from the kind of a case to the function that checks
one; its `main` is `run_suite(NAME, checks, arguments)`.
"""

from __future__ import annotations

import argparse
import json
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

Engine: TypeAlias = Literal["driver", "spark"]

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "conformance"

NOT_REQUIRED = "published-nonconforming"
INFORMATIONAL = frozenset(
    {
        "batch_filter",
        "compaction_fact",
        "crc32c",
        "default_period",
        "rack_aware_used",
        "semantics",
        "sequence",
        "side_input_combine",
        "trigger_continuation",
        "varint",
        "window_compatibility",
    }
)
INFORMATIONAL_PREFIX = "record_batch_"


@dataclass(frozen=True, slots=True)
class Case:
    """One published fact; references into the file's shared data are resolved."""

    id: str
    kind: str
    provenance: str
    given: dict[str, Any]
    expect: dict[str, Any]
    notes: str = ""
    shared: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def required(self) -> bool:
        """Whether a failure counts."""
        informs = self.kind in INFORMATIONAL or self.kind.startswith(INFORMATIONAL_PREFIX)
        return not informs and self.provenance != NOT_REQUIRED


Check: TypeAlias = Callable[[Case], None]
Checks: TypeAlias = Callable[[Engine], Mapping[str, Check]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one case: no failure, or the reason of one."""

    case: Case
    failure: str | None


def same(got: object, wanted: object, what: str = "result") -> None:
    """Fail with both values where they differ."""
    if got != wanted:
        message = f"{what} is {got!r}, not {wanted!r}"
        raise AssertionError(message)


def holds(condition: object, what: str) -> None:
    """Fail with what should have been so."""
    if not condition:
        message = f"not so: {what}"
        raise AssertionError(message)


def load_cases(path: Path) -> list[Case]:
    """Read a file of cases."""
    content = json.loads(path.read_text(encoding="utf-8"))
    shared = content.get("shared", {})
    return [
        Case(
            id=case["id"],
            kind=case["kind"],
            provenance=case["provenance"],
            given=_resolve(case["given"], shared),
            expect=case["expect"],
            notes=case.get("notes", ""),
            shared=shared,
        )
        for case in content["cases"]
    ]


def run_case(case: Case, checks: Mapping[str, Check]) -> Outcome:
    """Check one case; a kind that has no check fails."""
    check = checks.get(case.kind)
    if check is None:
        return Outcome(case, f"kind {case.kind} has no check")
    try:
        check(case)
    except Exception as error:  # noqa: BLE001  whatever goes wrong is the result
        place = traceback.extract_tb(error.__traceback__)[-1]
        reason = f"{type(error).__name__}: {error}"
        return Outcome(case, f"{reason} ({Path(place.filename).name}:{place.lineno})")
    return Outcome(case, None)


def summary(outcomes: Iterable[Outcome]) -> dict[str, Any]:
    """Count the required cases, in all and by kind, and name those that failed."""
    kinds: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        kind = kinds.setdefault(outcome.case.kind, {"required": 0, "passed": 0, "failed": []})
        if not outcome.case.required:
            continue
        kind["required"] += 1
        if outcome.failure is None:
            kind["passed"] += 1
        else:
            kind["failed"].append(outcome.case.id)
    return {
        "required": sum(kind["required"] for kind in kinds.values()),
        "passed": sum(kind["passed"] for kind in kinds.values()),
        "kinds": dict(sorted(kinds.items())),
    }


def run_suite(name: str, checks: Checks, arguments: Sequence[str] | None = None) -> int:
    """Run a suite as a command and give its exit status: 1 when a required case fails."""
    options = _parser(name).parse_args(arguments)
    table = checks(options.engine)
    outcomes = [run_case(case, table) for case in load_cases(options.file)]
    counts = summary(outcomes)
    _print_report(outcomes, counts)
    if options.json:
        options.json.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    return 0 if counts["passed"] == counts["required"] else 1


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.conformance.{name}",
        description="Check a file of conformance facts; exit status 1 when a required one fails.",
    )
    parser.add_argument("file", type=Path, help="a file of cases")
    parser.add_argument("--engine", choices=("driver", "spark"), default="driver")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the counts here")
    return parser


def _print_report(outcomes: Sequence[Outcome], counts: Mapping[str, Any]) -> None:
    for outcome in outcomes:
        if outcome.failure is not None and outcome.case.required:
            print(f"FAILED {outcome.case.id}: {outcome.failure}")
    width = max((len(kind) for kind in counts["kinds"]), default=0)
    for kind, count in counts["kinds"].items():
        told = f"{count['passed']}/{count['required']}" if count["required"] else "informs"
        print(f"{kind:<{width}}  {told}")
    print(f"{'all':<{width}}  {counts['passed']}/{counts['required']}")


def _resolve(value: Any, shared: Mapping[str, Any]) -> Any:  # noqa: ANN401  any JSON
    if isinstance(value, list):
        return [_resolve(item, shared) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"ref"}:
        target: Any = shared
        for part in value["ref"].split("."):
            target = target[part]
        return target
    return {key: _resolve(item, shared) for key, item in value.items()}
