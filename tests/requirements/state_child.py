"""A program that runs in a process of its own until it is killed; it tells its snapshots."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import cast

import penstock as ps
from penstock.inline.item import Barrier
from penstock.inline.run import InlineOptions, InlineRun
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical
from penstock.setting_value import StateKind
from tests.requirements.events import COLUMNS


def totals(store: str | None = None) -> Physical:
    """A running sum of each key; with `store` also in a database."""
    app = ps.App("totals")
    events = app.stream("events", schema=COLUMNS, event_time="at", max_ahead=None)
    sums = events.group_by("k").agg(total=ps.sum("v")).to("out")
    if store is not None:
        sums.persist(store, "sums")
        events.persist(store, "seen")
    return app.physical()


def options(state: str, *, exactly_once: bool, **more: float) -> InlineOptions:
    kind = cast(StateKind, state)
    promise: Guarantee = "exactly-once" if exactly_once else "at-least-once"
    return InlineOptions(state=kind, guarantee=promise, **more)  # type: ignore[arg-type]


def main(home: Path, state: str, exactly_once: str, store: str) -> None:
    how = options(state, exactly_once=exactly_once == "True", snapshot_every=0.05)
    checkpoint = home / "job"
    run = InlineRun(totals(store or None), home=home, checkpoint=checkpoint, options=how)
    kept = run._store

    def tell(barrier: Barrier) -> None:
        kept(barrier)
        print(sum(barrier.offsets.values()), flush=True)  # noqa: T201

    run._store = tell  # type: ignore[method-assign]
    run.run()


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
