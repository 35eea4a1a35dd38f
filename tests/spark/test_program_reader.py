from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from pyspark.sql.streaming.datasource import ReadAllAvailable

from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.rows import rows_of_bytes
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_source import ProgramReader
from penstock.spark.program_split import ProgramSplit
from penstock.spark.progress_file import Left, Start, left_before, write_left, write_start


def _options(home: Path, *first: tuple[str, int, int]) -> ProgramOptions:
    job = home / "job"
    job.mkdir(parents=True)
    scans = (("a", "people"), ("b", "orders"))
    return ProgramOptions(
        home=str(home), program="", folder=str(job), job="j", scans=scans, first=first
    )


def _append(log: Log, topic: str, count: int) -> None:
    log.append(topic, 0, rows_of_bytes([b"v"] * count))


def _batches(options: ProgramOptions, log: Log, count: int) -> list[dict[str, int]]:
    """The offsets that batches reach, one after the other."""
    positions = {at: bound.start for at, bound in log.snapshot(["orders", "people"]).items()}
    ids = {name: log.topic(name).topic_id for name in ("orders", "people")}
    write_start(options.files.start, Start(ProgramOffset(positions, ids)))
    reader = ProgramReader(options, lambda _: log)
    start: dict[str, Any] = reader.initialOffset()
    found: list[dict[str, int]] = []
    for number in range(count):
        start = reader.latestOffset(start, ReadAllAvailable())
        at = ProgramOffset.from_json(start)
        write_left(options.files.progress, Left(number, at, at.marks or {}))
        found.append({place.topic: offset for place, offset in at.positions.items()})
        _append(log, "people", 1)
    return found


def test_topics_that_come_first_are_read_before_the_others(tmp_path: Path) -> None:
    options = _options(tmp_path, ("people", 0, 3))
    assert ProgramOptions.from_texts(options.to_texts()) == options
    with open_log(tmp_path) as log:
        for topic in ("people", "orders"):
            log.create_topic(topic)
            _append(log, topic, 3)
        # What comes while they are read takes its turn with the others.
        assert _batches(options, log, 2) == [
            {"orders": 0, "people": 3},
            {"orders": 3, "people": 4},
        ]


def test_without_such_topics_a_batch_takes_what_there_is(tmp_path: Path) -> None:
    options = _options(tmp_path)
    with open_log(tmp_path) as log:
        for topic in ("people", "orders"):
            log.create_topic(topic)
            _append(log, topic, 3)
        assert _batches(options, log, 2) == [
            {"orders": 3, "people": 3},
            {"orders": 3, "people": 4},
        ]


def test_few_rows_over_a_large_state_are_not_one_tasks_also_when_they_are_run_again(
    tmp_path: Path,
) -> None:
    options = replace(_options(tmp_path), whole_rows=100)
    with open_log(tmp_path) as log:
        for topic in ("people", "orders"):
            log.create_topic(topic)
            _append(log, topic, 3)
        _batches(options, log, 1)
        begin = left_before(options.files)
        assert begin is not None
        for size, whole in ((1024, True), (1024**3, False)):
            told = replace(begin, told={"state": {"sums": [10, size], "joins": [0, 0]}})
            write_left(options.files.progress, told)
            reader = ProgramReader(options, lambda _: log)
            end = reader.latestOffset(begin.at.to_json(), ReadAllAvailable())
            # A batch is run again by who has not planned it, and may have left its own already.
            again = ProgramReader(options, lambda _: log)
            for left in (told, replace(told, batch=1, at=ProgramOffset.from_json(end))):
                write_left(options.files.progress, left)
                for planner in (reader, again):
                    found = planner.partitions(begin.at.to_json(), end)
                    assert [cast(ProgramSplit, split).whole for split in found] == (
                        [True] if whole else [False, False]
                    )
