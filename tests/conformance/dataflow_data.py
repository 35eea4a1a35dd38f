"""The shared data of the facts as a story: rows, watermarks and clocks in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from penstock.kernel.port import END_OF_TIME
from tests.conformance.dataflow_program import CLOCK, TIME, row
from tests.conformance.dataflow_time import moment
from tests.conformance.dataflow_words import VALUE
from tests.conformance.engine import Row, Run
from tests.conformance.runner import Case

Event: TypeAlias = tuple[Literal["rows", "watermark", "clock"], Any]

_HEURISTIC = {"book_scores": "book_watermark_heuristic", "paper_scores": "paper_watermark"}


@dataclass(frozen=True, slots=True)
class Story:
    """What happens. `told_by_steps` is so where the clock jumps from step to step.

    `slack` is how far times may be off that were read from a drawing.
    """

    events: tuple[Event, ...]
    told_by_steps: bool
    slack: int = 0

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return [item for name, given in self.events if name == "rows" for item in given]

    def play(self, run: Run) -> None:
        """Let it happen."""
        for name, given in self.events:
            match name:
                case "rows":
                    run.push(given)
                case "watermark" if given >= END_OF_TIME:
                    run.finish()
                case "watermark":
                    run.watermark(given)
                case _:
                    run.clock(given)


def story_of(case: Case, *, watermark: str | None = None) -> Story:
    """Read the data of a case; `watermark` names the shared one to go by."""
    name, _, remark = case.given["data"].partition(" ")
    data = case.shared[name]
    if "steps" in data:
        return Story(tuple(_steps(data)), told_by_steps=True)
    records = [_record(data, item) for item in data["records"]]
    steps = _watermark_steps(case, watermark)
    records = _remarked(records, remark, steps, case.given)
    if "read_tolerance_s" in data:
        records = [_before_the_minute(item) for item in records]
    slack = max(
        data.get("read_tolerance_s", 0),
        case.shared[watermark].get("read_tolerance_s", 0) if watermark else 0,
    )
    return Story(tuple(_merge(records, steps)), told_by_steps=False, slack=1000 * slack)


def heuristic_watermark(case: Case) -> str | None:
    """Give the shared watermark a case goes by, or that of its data."""
    if "watermark" in case.given:
        return str(case.given["watermark"])
    return _HEURISTIC.get(case.given["data"].split()[0])


def _steps(data: Mapping[str, Any]) -> Iterator[Event]:
    clock = 0
    for step in data["steps"]:
        if "element" in step:
            time = moment(step["event_time"])
            yield "rows", [row(data["key"], step["element"], time, **{CLOCK: clock})]
        elif "watermark" in step:
            yield "watermark", moment(step["watermark"])
        else:
            clock = moment(step["proc_time"])
            yield "clock", clock


def _record(data: Mapping[str, Any], record: Mapping[str, Any]) -> Row:
    time, clock = moment(record["event_time"]), moment(record["proc_time"])
    return row(data["key"], record["value"], time, **{CLOCK: clock})


def _watermark_steps(case: Case, name: str | None) -> list[tuple[int, int]]:
    if name is None:
        return []
    steps = case.shared[name]["steps"]
    return [(moment(step["proc_time"]), moment(step["passes_event_time"])) for step in steps]


def _remarked(
    records: list[Row], remark: str, steps: Sequence[tuple[int, int]], given: Mapping[str, Any]
) -> list[Row]:
    """Change records as the words after the name of the data say."""
    if "event_time := proc_time" in remark:
        return [{**item, TIME: item[CLOCK]} for item in records]
    added = re.search(r"plus a late (\d+)", remark)
    if added is None:
        return records
    start, end = (moment(bound) for bound in given["window_of_interest"])
    passed = next(clock for clock, reached in steps if reached >= end)
    late = {**records[0], VALUE: int(added[1]), TIME: (start + end) // 2, CLOCK: passed + 1000}
    return sorted([*records, late], key=lambda item: item[CLOCK])


def _before_the_minute(record: Row) -> Row:
    # Read from a drawing, a record on a boundary belongs to the pane drawn there.
    return {**record, CLOCK: record[CLOCK] - 1} if record[CLOCK] % 60_000 == 0 else record


def _merge(records: Iterable[Row], steps: Iterable[tuple[int, int]]) -> Iterator[Event]:
    happened: list[tuple[int, Event]] = [
        *((item[CLOCK], ("rows", [item])) for item in records),
        *((clock, ("watermark", reached)) for clock, reached in steps),
    ]
    for clock, event in sorted(happened, key=lambda item: item[0]):
        yield "clock", clock
        yield event
