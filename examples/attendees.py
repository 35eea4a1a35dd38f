"""How many attendees up to now, where memory holds five tuples: keep the sum, not the tuples.

python -m examples.attendees
python -m examples.attendees 3 5 2 8

Two answers to one question, side by side. One keeps tuples, as many as there is room for, and is
right for as long as they are all. The other keeps an accumulator, one number, and is always right.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import penstock as ps

ROOM = 5
GROUPS = (4, 2, 7, 1, 3, 6, 2, 9, 5, 1)
"""How many came in together, group after group."""

app = ps.App("attendees")
arrivals = app.stream("arrivals", schema={"people": int})
arrivals.agg(attendees=ps.sum("people")).to("attendees")
(
    arrivals.window(ps.buffered_window("sliding", evict=ps.by_count(ROOM), fire=ps.by_count(1)))
    .agg(attendees=ps.sum("people"))
    .to("remembered")
)


@dataclass(frozen=True, slots=True)
class Moment:
    """What is known after a tuple, and what is held in memory to know it."""

    people: int
    total: int
    sums_held: int
    of_the_kept: int
    tuples_held: int


def moments(groups: Sequence[int]) -> Iterator[Moment]:
    """Let the groups in, one after the other."""
    driver = app.test()
    for people in groups:
        driver.push("arrivals", {"people": people})
        yield Moment(
            people=people,
            total=driver.take("attendees")[-1]["attendees"],
            sums_held=driver.state("agg-1")["fold"].height,
            of_the_kept=driver.take("remembered")[-1]["attendees"],
            tuples_held=driver.state("agg-2")["buffer"].height,
        )


def main() -> None:
    """Print a line for each tuple."""
    groups = [int(word) for word in sys.argv[1:]] or GROUPS
    print("tuple  people  total  sums held  sum of the kept  tuples held")
    for number, seen in enumerate(moments(groups), start=1):
        wrong = "" if seen.of_the_kept == seen.total else "  <- wrong"
        print(
            f"t{number:<5} {seen.people:>6} {seen.total:>6} {seen.sums_held:>10}"
            f" {seen.of_the_kept:>16} {seen.tuples_held:>12}{wrong}"
        )


if __name__ == "__main__":
    main()
