from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import penstock as ps
from penstock.errors import StateError
from penstock.kernel.codec import encode
from penstock.kernel.port import State, Time
from penstock.spark import state_files
from penstock.spark.state_codec import StateCodec
from penstock.spark.state_files import StateFiles, Stored


def codec(**measures: Any) -> StateCodec:  # noqa: ANN401
    app = ps.App("counts")
    views = app.stream("views", schema={"user": "string", "v": "int64"})
    views.group_by("user").agg(**(measures or {"n": ps.max("v")})).to("out")
    return StateCodec(app.physical().operators[0])


@pytest.fixture
def files(tmp_path: Path) -> StateFiles:
    return StateFiles(tmp_path / "agg-1" / "0", codec())


@pytest.fixture(autouse=True)
def _forgetful(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every process reads what another has written."""
    monkeypatch.setattr(state_files, "_CACHE_BYTES", 0)


def state(rows: int, *, changed: tuple[int, ...] = (), watermark: int = 1) -> State:
    values = np.arange(rows) * 3
    values[list(changed)] = -1
    return State(
        {"panes": pl.DataFrame({"_pane": np.arange(rows), "n": values})}, Time(watermark, 2)
    )


def saved(files: StateFiles, before: Stored | None, after: State) -> Stored:
    note, _ = files.save(before, after)
    return files.load(note)


def names(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in tmp_path.rglob("*.state"))


def test_a_short_state_has_no_file(files: StateFiles, tmp_path: Path) -> None:
    found = saved(files, None, state(10))
    assert found.state.tables["panes"].equals(state(10).tables["panes"])
    assert found.state.time == Time(1, 2)
    assert names(tmp_path) == []


def test_a_long_state_is_a_base_and_the_changes_since(files: StateFiles, tmp_path: Path) -> None:
    first = saved(files, None, state(50_000))
    second = saved(files, first, state(50_000, changed=(3, 4), watermark=5))
    third = saved(files, second, state(50_100, changed=(3, 4, 9), watermark=6))
    assert third.state.tables["panes"].equals(state(50_100, changed=(3, 4, 9)).tables["panes"])
    assert third.state.time.watermark == 6
    assert len(third.files) == 3
    assert third.files[1][1] < third.files[0][1] / 50
    assert len(names(tmp_path)) == 3


def test_a_batch_that_is_run_again_finds_what_the_one_before_left(files: StateFiles) -> None:
    first, _ = files.save(None, state(50_000))
    again = files.load(first)
    for _ in range(3):
        again = saved(files, files.load(first), state(50_000, changed=(1,)))
    assert again.state.tables["panes"].equals(state(50_000, changed=(1,)).tables["panes"])
    assert files.load(first).state.tables["panes"].equals(state(50_000).tables["panes"])


def test_files_go_when_no_batch_can_ask_for_them(files: StateFiles, tmp_path: Path) -> None:
    found = saved(files, None, state(50_000))
    for number in range(60):
        found = saved(files, found, state(50_000, changed=(number,)))
        assert len(names(tmp_path)) <= 22
    found = saved(files, found, state(50_000, changed=tuple(range(20_000))))
    assert len(found.files) == 1
    # What shrinks goes back into the note; its last files are kept for one batch more.
    found = saved(files, found, state(1))
    found = saved(files, found, state(2))
    assert names(tmp_path) == []


def test_a_file_of_a_failed_attempt_goes_later(files: StateFiles, tmp_path: Path) -> None:
    first = saved(files, None, state(50_000))
    files.save(first, state(50_000, changed=(1,)))
    found = saved(files, first, state(50_000, changed=(2,)))
    assert len(names(tmp_path)) == 3
    # Until then Spark may have the note of either.
    third = saved(files, found, state(50_000, changed=(2, 3)))
    assert len(names(tmp_path)) == 4
    saved(files, third, state(50_000, changed=(2, 3, 4)))
    assert len(names(tmp_path)) == 4


def test_a_state_of_another_operator_or_without_its_file_is_refused(
    files: StateFiles, tmp_path: Path
) -> None:
    note, _ = files.save(None, state(50_000))
    with pytest.raises(StateError, match="STATE_CHANGE"):
        StateFiles(tmp_path / "agg-1" / "0", codec(n=ps.min("v"))).load(note)
    path = next(tmp_path.rglob("*.state"))
    content = bytearray(path.read_bytes())
    content[-100] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match="STATE_UNREADABLE"):
        files.load(note)
    path.unlink()
    with pytest.raises(StateError, match="STATE_FILE"):
        files.load(note)


def test_a_process_keeps_what_it_wrote_last(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_files, "_CACHE_BYTES", 10**9)
    after = state(50_000)
    note, _ = files.save(None, after)
    assert files.load(note).state is after


def test_a_state_of_another_form_is_stored_anew_and_as_a_whole(
    files: StateFiles, tmp_path: Path
) -> None:
    first = saved(files, None, folded(50_000))
    second = saved(files, first, folded(50_000, changed=(3,)))
    assert [item.migrated for item in (first, second)] == [False, False]
    assert len(second.files) == 2
    after = StateFiles(tmp_path / "agg-1" / "0", codec(n=ps.max("v"), m=ps.min("v")))
    note, _ = files.save(first, folded(50_000, changed=(3,)))
    found = after.load(note)
    assert found.migrated
    assert found.state.tables["fold"].columns == ["_pane", "_rows", "_a0_v", "_a1_v"]
    assert found.state.tables["fold"]["_a0_v"].to_list()[:4] == [0, 3, 6, -1]
    third = saved(after, found, found.state)
    assert (third.migrated, len(third.files), third.version) == (False, 1, 3)
    # Whoever does the batch again needs the files of before.
    assert {name for name, _ in (*second.files, *third.files)} <= set(names(tmp_path))


def test_a_state_that_does_not_tell_its_form_is_known_by_its_operator(files: StateFiles) -> None:
    note = b"I" + bytes(8) + encode(state(3), "print")
    with pytest.raises(StateError, match="STATE_FOREIGN"):
        files.load(note)


def folded(rows: int, *, changed: tuple[int, ...] = ()) -> State:
    values = np.arange(rows) * 3
    values[list(changed)] = -1
    ones = np.ones(rows, np.int64)
    table = pl.DataFrame({"_pane": np.arange(rows), "_rows": ones, "_a0_v": values})
    return State({"fold": table}, Time(1, 2))


def test_a_state_that_grows_is_not_written_again(files: StateFiles) -> None:
    found = saved(files, None, state(50_000))
    for number in range(2, 6):
        found = saved(files, found, state(50_000 * number))
        assert found.state.tables["panes"].equals(state(50_000 * number).tables["panes"])
    assert len(found.files) == 5
    assert found.size < found.files[0][1] * 5.1


def test_what_no_longer_counts_is_at_most_as_much_as_what_does(files: StateFiles) -> None:
    found = saved(files, None, state(50_000))
    for number in range(20):
        places = tuple(range(number * 1000, number * 1000 + 5000))
        found = saved(files, found, state(50_000, changed=places))
        assert found.size < 2.2 * 50_000 * 16


def test_a_process_reads_what_others_wrote_since_and_no_more(
    files: StateFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_files, "_CACHE_BYTES", 10**9)
    first, _ = files.save(None, state(50_000))
    known = state_files._cache().get(str(tmp_path / "agg-1" / "0"))
    second, _ = files.save(files.load(first), state(50_000, changed=(7,), watermark=3))
    assert known is not None
    state_files._cache().put(str(tmp_path / "agg-1" / "0"), known)
    base = min(tmp_path.rglob("*.state"))
    base.rename(base.with_suffix(".away"))
    found = files.load(second).state
    assert found.tables["panes"].equals(state(50_000, changed=(7,)).tables["panes"])
    assert found.time.watermark == 3
    # Of the batch before, run again, it is not a state that came later.
    base.with_suffix(".away").rename(base)
    files.save(files.load(second), state(50_000, changed=(7, 8)))
    assert files.load(first).state.tables["panes"].equals(state(50_000).tables["panes"])
