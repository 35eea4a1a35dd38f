"""`make bench-smoke`: a few queries of ours and of plain PySpark, beside the last that was kept.

The ratio of the two is compared, not their speed: a slow machine is slow for both. It says what it
found and never fails, since no number of one short run is reason enough.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from bench.catalog import RESULTS, ROOT
from bench.nexmark.engines import OURS, SPARK, commands_of
from bench.nexmark.events import events_folder
from bench.nexmark.harness import EngineCommand, close_engines_when_ended
from bench.nexmark.questions import QUESTIONS
from bench.nexmark.record import Record
from bench.nexmark.turns import Plan, Turns, batch_of
from bench.result import Measure, Result, load
from bench.scale import Scale

_QUERIES = ("q0", "q5", "q8")
_METHOD = (
    "Three queries of Nexmark on our engine and on plain PySpark, checked and by turns, as in the"
    " whole bench but fewer: small enough for every build. `make bench-smoke` runs it and compares"
    " the ratios with those kept here."
)
_NOTICED = 0.8
"""A ratio below so much of the one kept is worth a look; runs of one tree differ by less."""


def run(scale: Scale) -> Result:
    """Measure a few queries of both engines."""
    return measured(scale, list(commands_of((OURS, SPARK))))


def measured(scale: Scale, commands: list[EngineCommand]) -> Result:
    """Measure a few queries of the engines given."""
    events = scale.of(500_000, 20_000)
    with scale.home() as scratch:
        plan = Plan(
            events=events,
            folder=events_folder(events, below=scale.folder / "nexmark"),
            queries=_QUERIES,
            runs=scale.of(3, 1),
            warm=scale.of(1, 0),
            batch=batch_of(events),
            scratch=scratch,
        )
        record = Turns(commands, plan).record()
    return Result(
        name="smoke",
        title="Nexmark in short, to notice a step back",
        method=_METHOD,
        baseline="plain PySpark in the same run",
        scale=scale.name,
        sizes={"events": events, "runs": plan.runs},
        measures=tuple(_measures(record)),
    )


def compared(now: Result, before: Result | None) -> Iterator[str]:
    """Say of each query how its ratio stands to the one kept."""
    kept = {} if before is None else {item.label: item.judged for item in before.measures}
    for item in now.measures:
        text = f"{item.label}: {item.judged:.2f} times plain PySpark's events/CPU-s"
        if item.label not in kept:
            yield f"{text}; none is kept to compare with"
            continue
        share = item.judged / kept[item.label]
        word = "less than before, worth a look" if share < _NOTICED else "as before or better"
        yield f"{text}; {kept[item.label]:.2f} when last kept: {word}"
    missing = [query for query in _QUERIES if not any(query in m.label for m in now.measures)]
    for query in missing:
        yield f"{query}: not measured, see above"


def main(folder: Path = ROOT / "artifacts") -> int:
    """Measure, compare and print; what goes wrong is told, and is no failure."""
    close_engines_when_ended()
    try:
        now = run(Scale(quick=False, folder=folder))
        path = RESULTS / "smoke.json"
        before = load(path) if path.exists() else None
        for line in compared(now, before):
            print(line)
    except Exception as error:  # noqa: BLE001  # whatever it is: a bench is no test
        print(f"the bench did not run: {type(error).__name__}: {error}", file=sys.stderr)
    return 0


def _measures(record: Record) -> Iterator[Measure]:
    for query in record.queries():
        ours, theirs = record.runs_of(query, OURS), record.runs_of(query, SPARK)
        if ours and theirs:
            yield Measure(
                label=f"{query}, {QUESTIONS[query].title}",
                unit="events/CPU-s",
                ours=tuple(run.thrift for run in ours),
                baseline=tuple(run.thrift for run in theirs),
            )


if __name__ == "__main__":
    sys.exit(main())
