"""How data is processed: without end or with one, event by event, in motion or at rest.

C01, C04, C46, C48, C51 and C52; what needs Spark is in tests/spark/test_requirements.py.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import penstock as ps
from penstock.app import bounded_run
from penstock.errors import PlanError
from penstock.front.dsl.stream import Stream
from penstock.spark import run as spark_run
from tests.eventually import eventually
from tests.requirements.events import COLUMNS, Row, disordered, event, program, spans, window_sums
from tests.requirements.homes import (
    EVENTS,
    publish,
    records,
    running,
    stored,
    to_the_end,
)

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
ROWS = [event(7 * n, n, "abc"[n % 3]) for n in range(50)]


def parquet(rows: list[Row], folder: Path) -> str:
    half = len(rows) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        pq.write_table(pa.Table.from_pylist(part, EVENTS), folder / f"events-{number}.parquet")
    return str(folder / "events-*.parquet")


def csv(rows: list[Row], folder: Path) -> str:
    pyarrow.csv.write_csv(pa.Table.from_pylist(rows, EVENTS), folder / "events.csv")
    return str(folder / "events.csv")


def json_lines(rows: list[Row], folder: Path) -> str:
    lines = (json.dumps({**row, "at": row["at"].isoformat()}) for row in rows)
    (folder / "events.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder / "events.jsonl")


def sums(stream: Stream) -> Stream:
    return window_sums(ps.tumbling("1 minute"))(stream)


def on_files(path: str, describe: Callable[[Stream], Stream] = sums) -> ps.App:
    app = ps.App("check")
    describe(app.files(path, schema=COLUMNS, event_time="at")).to("out")
    return app


def table(rows: list[Row]) -> list[tuple[Any, ...]]:
    return sorted((row["k"], *spans([row])[0]) for row in rows)


# C01
def test_a_query_runs_until_it_is_stopped_and_new_data_keeps_updating(tmp_path: Path) -> None:
    publish(tmp_path, ROWS[:1])
    app = program(lambda stream: stream.agg(n=ps.count()))
    with running(app.physical(), tmp_path):
        for number in range(1, 4):
            eventually(lambda: [row["n"] for row in stored(tmp_path, "out")][-1:] == [number])  # noqa: B023
            publish(tmp_path, [ROWS[number]])
        eventually(lambda: len(stored(tmp_path, "out")) == 4)
    publish(tmp_path, ROWS[4:])
    assert [row["n"] for row in stored(tmp_path, "out")] == [1, 2, 3, 4]


# C04
@pytest.mark.parametrize("write", [parquet, csv, json_lines])
def test_the_same_program_over_a_file_and_over_a_topic_gives_the_same_result(
    tmp_path: Path, write: Callable[[list[Row], Path], str]
) -> None:
    files = on_files(write(ROWS, tmp_path))
    publish(tmp_path, ROWS)
    to_the_end(program(sums).physical(), tmp_path)
    of_the_topic = table(stored(tmp_path, "out"))
    batch = files.test()
    batch.read_files()
    batch.finish()
    assert table(batch.rows("out")) == of_the_topic
    home = tmp_path / "other"
    to_the_end(files.physical(), home)
    assert table(stored(home, "out")) == of_the_topic


# C04
def test_what_is_read_as_a_whole_has_no_order_and_nothing_is_late(tmp_path: Path) -> None:
    run = on_files(parquet(disordered(ROWS, 5), tmp_path)).test()
    run.read_files()
    assert run.rows("out") == []
    run.finish()
    assert run.late("out") == []
    assert sum(row["total"] for row in run.rows("out")) == sum(row["v"] for row in ROWS)


# C52
def test_files_are_run_to_their_end_and_topics_until_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(spark_run, "start", lambda _, **words: asked.append(words["bounded"]))
    files, topics = on_files(csv(ROWS, tmp_path)), program(sums)
    files.start(home=tmp_path)
    topics.start(home=tmp_path)
    topics.start(home=tmp_path, bounded=True)
    assert asked == [True, False, True]


# C52
def test_files_beside_a_topic_need_an_end_to_be_named(tmp_path: Path) -> None:
    app = ps.App("check")
    old = app.files(csv(ROWS, tmp_path), schema=COLUMNS, event_time="at", name="old")
    new = app.stream("new", schema=COLUMNS, event_time="at")
    sums(old.union(new)).to("out")
    assert bounded_run(app.physical(), bounded=True)
    for asked in (None, False):
        with pytest.raises(PlanError, match=r'PLAN_FILES.*"old"'):
            bounded_run(app.physical(), bounded=asked)


# C46
def test_each_event_gives_its_result_before_the_next_one_is_there(tmp_path: Path) -> None:
    publish(tmp_path, ROWS[:1])
    app = program(lambda stream: stream.filter(ps.col("v") >= 0).agg(total=ps.sum("v")))
    with running(app.physical(), tmp_path):
        for number in range(1, 6):
            # Nothing else is published until the result of this event can be read.
            eventually(lambda: len(stored(tmp_path, "out")) == number)  # noqa: B023
            publish(tmp_path, [ROWS[number]])
        eventually(lambda: len(stored(tmp_path, "out")) == 6)
    assert [row["total"] for row in stored(tmp_path, "out")] == [0, 1, 3, 6, 10, 15]


# C48
def test_a_standing_query_keeps_no_raw_data_and_stored_data_can_be_asked_ad_hoc(
    tmp_path: Path,
) -> None:
    publish(tmp_path, [event(n, n, "raw-data") for n in range(10)])
    app = program(lambda stream: stream.select("v", "at").agg(total=ps.sum("v")))
    to_the_end(app.physical(), tmp_path)
    written = [
        file for file in tmp_path.rglob("*") if file.is_file() and b"raw-data" in file.read_bytes()
    ]
    assert written
    assert all("events" in file.parts for file in written)
    assert {tuple(row) for row in stored(tmp_path, "out")} == {("total",)}
    at_rest = pl.DataFrame(records(tmp_path, "events"))
    asked = at_rest.filter(pl.col("v") % 2 == 0).select(pl.col("v").sum())
    assert asked.item() == 20


# C51
def test_the_page_on_when_to_stream_gives_criteria_for_both_answers() -> None:
    page = (ROOT / "docs" / "when-to-stream.md").read_text()
    assert "no free lunch" in page.lower()
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")]
    answers = {row[-1].strip().split(":")[0] for row in rows if len(row) == 2}
    assert {"stream", "batch"} <= answers
