"""H06 without Spark: what a crash at each step of a run costs under each guarantee."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

import penstock as ps
from penstock.errors import RunError, UsageError
from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical

pytestmark = pytest.mark.slow

SCHEMA = pa.schema([("n", pa.int64())])
ROWS = 4
GUARANTEES: tuple[Guarantee, ...] = get_args(Guarantee)
STEPS = {
    "results given": lambda run: _after(run, "_write", 3),
    "snapshot written": lambda run: _after(run._snapshots, "write", 1),
    "snapshot noted": lambda run: _after(run._snapshots, "note", 1),
    "first result given": lambda run: _after(run, "_give", 1),
    "all stored": lambda run: _after(run, "on_stored", 1),
}


def _after(owner: Any, name: str, calls: int) -> None:  # noqa: ANN401
    """Let the power go when a step is done for the so-manieth time."""
    done: Callable[..., None] = getattr(owner, name)
    left = [calls]

    def dies(*given: object) -> None:
        done(*given)
        left[0] -= 1
        if not left[0]:
            raise OSError("the power is gone")

    setattr(owner, name, dies)


def passing() -> Physical:
    app = ps.App("passing")
    app.stream("numbers", schema={"n": int}).to("out")
    return app.physical()


def run_of(home: Path, guarantee: Guarantee) -> InlineRun:
    options = InlineOptions(until="caught up", guarantee=guarantee)
    return InlineRun(passing(), home=home, checkpoint=home / "job", options=options)


def cost(home: Path, guarantee: Guarantee, step: str, first: int) -> tuple[int, int]:
    """Give how many rows are missing and how many came too often."""
    numbers = range(first, first + ROWS)
    with open_log(home) as log:
        if "numbers" not in log.topics():
            log.create_topic("numbers", schema=SCHEMA)
        log.append("numbers", 0, pa.table({"n": list(numbers)}, schema=SCHEMA))
    dying = run_of(home, guarantee)
    STEPS[step](dying)
    try:
        dying.run()
    except RunError as error:
        assert "the power is gone" in str(error)  # noqa: PT017  # not all have every step
    run_of(home, guarantee).run()
    with open_log(home) as log:
        found = Counter(log.read("out", 0, 0, ReadLimit()).rows.column("n").to_pylist())
    missing = sum(1 for n in numbers if not found[n])
    return missing, sum(max(found[n] - 1, 0) for n in numbers)


def test_what_a_crash_at_each_step_costs(tmp_path: Path) -> None:
    costs = {
        guarantee: [
            cost(tmp_path / guarantee, guarantee, step, ROWS * number)
            for number, step in enumerate(STEPS)
        ]
        for guarantee in GUARANTEES
    }
    assert set(costs["exactly-once"]) == {(0, 0)}, costs
    assert all(missing == 0 for missing, _ in costs["at-least-once"]), costs
    assert any(twice for _, twice in costs["at-least-once"]), costs
    assert all(twice == 0 for _, twice in costs["at-most-once"]), costs
    assert any(missing for missing, _ in costs["at-most-once"]), costs


def test_a_guarantee_that_memory_alone_cannot_keep_is_refused(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic("numbers", schema=SCHEMA)
    options = InlineOptions(until="caught up", guarantee="at-most-once", state="memory")
    with pytest.raises(UsageError, match=r"STATE_MEMORY.*at most once"):
        InlineRun(passing(), home=tmp_path, checkpoint=tmp_path / "job", options=options)
