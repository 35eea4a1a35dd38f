"""A program that runs in this process is changed and started again on what it remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.front.dsl.states import renamed
from penstock.front.dsl.stream import Stream
from penstock.inline.run import InlineOptions, InlineRun
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.model.job_settings import Guarantee
from penstock.model.physical import Physical
from penstock.model.processor import Context
from penstock.plan.state_change import StateWarning
from penstock.setting_value import StateKind

pytestmark = pytest.mark.slow

Row = dict[str, Any]
SCHEMA = pa.schema([("user", pa.string()), ("n", pa.int64())])
STORES: tuple[StateKind, ...] = ("local", "changelog", "external")


class Place:
    """A home with a topic, and a program that runs there again and again."""

    def __init__(self, home: Path) -> None:
        self.home = home
        with open_log(home) as log:
            log.create_topic("in", schema=SCHEMA)

    def publish(self, *rows: tuple[str, int]) -> None:
        columns = [pa.array(column) for column in zip(*rows, strict=True)]
        with open_log(self.home) as log:
            log.append("in", 0, pa.Table.from_arrays(columns, schema=SCHEMA))

    def run(self, physical: Physical, options: InlineOptions | None = None) -> InlineRun:
        how = options or InlineOptions(until="caught up")
        made = InlineRun(physical, home=self.home, checkpoint=self.home / "job", options=how)
        made.run()
        return made

    def rows(self, topic: str) -> list[Row]:
        with open_log(self.home) as log:
            found: list[Row] = []
            for at, bound in sorted(log.snapshot([topic]).items()):
                offset = bound.start
                while offset < bound.end:
                    chunk = log.read(*at, offset, ReadLimit())
                    found += chunk.rows.to_pylist()
                    offset = chunk.next_offset
        return [{k: v for k, v in row.items() if k[0] != "_"} for row in found]

    def files(self) -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in self.home.rglob("*") if p.is_file()}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "home")


def program(build: Callable[[Stream], Any], to: str = "out") -> Physical:
    app = ps.App("shop")
    build(app.stream("in", schema=SCHEMA)).to(to)
    return app.physical()


def aggregated(to: str, **measures: Any) -> Physical:  # noqa: ANN401
    return program(lambda stream: stream.group_by("user").agg(**measures), to)


def telling(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
    held = state.seen.value or {"n": 0}
    held = {name: value for name, value in held.items() if value is not None}
    name = next(iter(held))
    state.seen.value = {name: held[name] + row["n"]}
    return {"user": ctx.key, "told": str(state.seen.value)}


def remembering(state: Any, function: Any = telling, name: str = "count") -> Physical:  # noqa: ANN401
    def build(stream: Stream) -> Any:  # noqa: ANN401
        return stream.group_by("user").process(
            function, schema={"user": str, "told": str}, state={"seen": state}, name=name
        )

    return program(build)


@pytest.mark.parametrize("store", STORES)
def test_a_changed_program_goes_on_with_what_was_remembered(place: Place, store: StateKind) -> None:
    options = InlineOptions(until="caught up", state=store)
    place.publish(("ann", 1), ("bob", 2))
    place.run(aggregated("totals", total=ps.sum("n")), options)
    place.publish(("ann", 10))
    changed = aggregated("both", most=ps.max("n"), total=ps.sum("n"))
    with pytest.warns(StateWarning, match='new measure "most"'):
        place.run(changed, options)
    # Bob was not touched since: his part was stored anew all the same.
    place.publish(("bob", 20))
    place.run(changed, options)
    assert [(row["total"], row["most"]) for row in place.rows("both")] == [(11, 10), (22, 20)]


@pytest.mark.parametrize("guarantee", get_args(Guarantee))
def test_a_run_that_dies_before_it_has_stored_the_new_form_starts_over(
    place: Place, guarantee: Guarantee
) -> None:
    options = InlineOptions(until="caught up", guarantee=guarantee)
    old = ps.value_state("struct<n: int64>")
    place.publish(("ann", 1))
    place.run(remembering(old), options)
    place.publish(("ann", 2))
    state = ps.value_state("struct<count: int64>", version=2, migrations={2: renamed("n", "count")})

    def dies(row: Row, state: Any, ctx: Context) -> Row:  # noqa: ANN401
        telling(row, state, ctx)
        raise SystemExit

    with pytest.raises(SystemExit):
        place.run(remembering(state, dies), options)
    place.run(remembering(state), options)
    place.publish(("ann", 3))
    place.run(remembering(state), options)
    told = ["{'n': 1}", "{'count': 3}", "{'count': 6}"]
    assert [row["told"] for row in place.rows("out")] == told


def test_a_function_that_fails_leaves_everything_as_it_was(place: Place) -> None:
    place.publish(("ann", 1))
    place.run(remembering(ps.value_state("struct<n: int64>")))
    place.publish(("ann", 2))

    def wrong(old: Row) -> Row:
        return {"n": old["count"]}

    before = place.files()
    failing = ps.value_state("struct<n: int64>", version=2, migrations={2: wrong})
    with pytest.raises(StateError, match="STATE_MIGRATION") as caught:
        place.run(remembering(failing))
    assert "failed on {'n': 1} with KeyError: 'count'" in caught.value.fact
    assert place.files() == before
    right = ps.value_state(
        "struct<n: int64>", version=2, migrations={2: lambda old: {"n": old["n"] * 100}}
    )
    place.run(remembering(right))
    assert place.rows("out")[-1]["told"] == "{'n': 102}"


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (remembering(ps.value_state("struct<n: int32>", version=2)), "STATE_CHANGE"),
        (remembering(ps.value_state("struct<n: string>", version=2)), "STATE_CHANGE"),
        (remembering(ps.list_state("struct<n: int64>", version=2)), "STATE_CHANGE"),
        (remembering(ps.value_state("struct<n: int64>", version=1)), "STATE_VERSION"),
        (
            remembering(
                ps.value_state("struct<m: int64>", version=3, migrations={3: renamed("x", "m")})
            ),
            "STATE_MIGRATION",
        ),
        (
            remembering(ps.value_state("struct<n: int64>", version=2), name="new"),
            "CHECKPOINT_PROGRAM",
        ),
        (
            program(
                lambda stream: stream.group_by("n").process(
                    telling,
                    schema={"user": str, "told": str},
                    state={"seen": ps.value_state("struct<n: int64>", version=2)},
                    name="count",
                )
            ),
            "STATE_KEY",
        ),
        (program(lambda stream: stream.dedup("user")), "CHECKPOINT_PROGRAM"),
    ],
)
def test_a_wrong_change_is_refused_and_nothing_is_touched(
    place: Place, wrong: Physical, code: str
) -> None:
    right = remembering(ps.value_state("struct<n: int64>", version=2))
    place.publish(("ann", 1))
    place.run(right)
    place.publish(("ann", 2))
    before = place.files()
    with pytest.raises(StateError, match=code) as caught:
        place.run(wrong)
    assert caught.value.hint
    assert place.files() == before
    place.run(right)
    assert [row["told"] for row in place.rows("out")] == ["{'n': 1}", "{'n': 3}"]


def test_a_refused_program_makes_no_topic(place: Place) -> None:
    place.publish(("ann", 1))
    place.run(aggregated("totals", total=ps.sum("n")))
    with pytest.raises(StateError, match="STATE_CHANGE"):
        place.run(aggregated("others", total=ps.max("n")))
    with open_log(place.home) as log:
        assert "others" not in log.topics()
