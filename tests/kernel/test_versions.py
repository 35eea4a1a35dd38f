from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.errors import ModelError
from penstock.kernel.port import START_OF_TIME, Step, Time
from penstock.kernel.versions import VersionsOperator
from penstock.model.table_key import table_key
from penstock.model.versions import Versions, versions_below
from tests.kernel.frames import NEVER, a_stream, delta, play, table
from tests.kernel.lookups import MILLISECOND


def an_operator(*, keep: int = 0, changelog: bool = False) -> VersionsOperator:
    return VersionsOperator(Versions(a_stream(changelog=changelog), ("key",), keep * MILLISECOND))


def shown(*steps: Step) -> list[Any]:
    """Weight, number, begin and end of what came."""
    rows = [
        row
        for step in steps
        for row in step.output.select("_weight", "n", "valid_from", "valid_to").rows()
    ]
    return [(weight, n, _ms(start), _ms(end)) for weight, n, start, end in rows]


def _ms(moment: Any) -> int | None:  # noqa: ANN401
    return None if moment is None else round(moment.timestamp() * 1000)


def row(n: int | None, t: int | None, key: str = "a", w: int = 1) -> dict[str, Any]:
    return {"key": key, "n": n, "t": t, "w": w}


def test_a_version_is_open_until_the_next_one_begins() -> None:
    steps = play(
        an_operator(), (delta(row(1, 10)), NEVER), (delta(row(2, 20), row(3, 5, "b")), NEVER)
    )
    assert shown(steps[0]) == [(1, 1, 10, None)]
    assert shown(steps[1]) == [(-1, 1, 10, None), (1, 3, 5, None), (1, 1, 10, 20), (1, 2, 20, None)]
    assert steps[1].output["_time"].to_list() == [10, 5, 10, 20]


def test_a_version_out_of_order_is_put_in_its_place() -> None:
    steps = play(an_operator(), (delta(row(1, 10), row(3, 30)), NEVER), (delta(row(2, 20)), NEVER))
    assert shown(steps[1]) == [(-1, 1, 10, 30), (1, 1, 10, 20), (1, 2, 20, 30)]


def test_every_row_of_a_batch_is_a_version() -> None:
    steps = play(an_operator(), (delta(*(row(n, n) for n in (1, 2, 3))), NEVER))
    assert shown(*steps) == [(1, 1, 1, 2), (1, 2, 2, 3), (1, 3, 3, None)]


def test_a_deletion_ends_a_version_also_one_that_comes_later() -> None:
    steps = play(
        an_operator(),
        (delta(row(1, 10)), NEVER),
        (delta(row(None, 30, w=-1)), NEVER),
        (delta(row(2, 20)), NEVER),
    )
    assert shown(steps[1]) == [(-1, 1, 10, None), (1, 1, 10, 30)]
    assert shown(steps[2]) == [(-1, 1, 10, 30), (1, 1, 10, 20), (1, 2, 20, 30)]


def test_a_row_at_the_same_time_replaces_the_version() -> None:
    steps = play(an_operator(), (delta(row(1, 10)), NEVER), (delta(row(2, 10)), NEVER))
    assert shown(steps[1]) == [(-1, 1, 10, None), (1, 2, 10, None)]
    again = play(an_operator(), (delta(row(1, 10)), NEVER), (delta(row(1, 10)), NEVER))
    assert shown(again[1]) == []


def test_a_changelog_gives_the_same_versions() -> None:
    steps = play(
        an_operator(changelog=True),
        (delta(row(1, 10)), NEVER),
        (delta(row(1, 10, w=-1), row(2, 20)), NEVER),
    )
    assert table(steps, "n", "valid_to").keys() == {(1, _moment(20)), (2, None)}


def test_a_version_is_final_once_the_watermark_is_past_its_end_and_what_is_kept() -> None:
    operator = an_operator(keep=5)
    steps = play(
        operator,
        (delta(row(1, 10), row(2, 20)), Time(24, 0)),
        (delta(row(3, 15)), Time(25, 0)),
        (delta(row(4, 12), row(5, 25), row(6, None)), Time(25, 0)),
    )
    assert shown(steps[1]) == [(-1, 1, 10, 20), (1, 1, 10, 15), (1, 3, 15, 20)]
    assert steps[1].state.rows == 1
    assert shown(steps[2]) == [(-1, 2, 20, None), (1, 2, 20, 25), (1, 5, 25, None)]
    assert steps[2].late is not None
    assert steps[2].late["n"].to_list() == [4]
    assert (steps[2].counts.late, steps[2].counts.filtered) == (1, 1)


def test_the_last_version_stays_and_a_deleted_key_leaves() -> None:
    steps = play(
        an_operator(),
        (delta(row(1, 10), row(2, 10, "b"), row(None, 20, "b", -1)), Time(START_OF_TIME, 0)),
        (delta(), Time(1000, 0)),
    )
    assert steps[1].state.tables["versions"]["key"].to_list() == ["a"]
    assert steps[1].output.is_empty()


def test_the_key_of_versions_is_that_of_the_table_and_their_begin() -> None:
    versions = Versions(a_stream(), ("key",))
    assert table_key(versions) == ("key", "valid_from")
    assert versions_below(versions) is versions
    assert versions_below(a_stream()) is None
    assert versions.retracts


def test_versions_need_a_key() -> None:
    with pytest.raises(ModelError, match="TABLE_KEY"):
        Versions(a_stream(), ())


def _moment(ms: int) -> Any:  # noqa: ANN401
    return datetime.fromtimestamp(ms / 1000, UTC)
