from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from penstock.config import load_settings
from penstock.errors import JobError, LogError, StateError, TopicError
from penstock.jobs.log_setting import settings_file, write_log_setting
from penstock.jobs.migration import Migration
from penstock.log.embedded.home import open_home
from penstock.log.mirror import Landing, Route
from penstock.log.mirroring import Copied, copy_topics
from penstock.log.offset_map import KeptMap, OffsetMap
from penstock.log.open import open_log
from penstock.log.port import Appended, Log, Transaction
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes

CLICKS = TopicPartition("clicks", 0)


def fill(log: Log) -> None:
    """Six records, with offsets of an aborted transaction after the third."""
    log.create_topic("clicks")
    log.append("clicks", 0, rows_of_bytes([b"0", b"1", b"2"]))
    transaction = log.transaction("aborted")
    transaction.begin()
    transaction.append("clicks", 0, rows_of_bytes([b"x", b"y"]))
    transaction.abort()
    transaction.close()
    log.append("clicks", 0, rows_of_bytes([b"3", b"4", b"5"]))


def quietly(_: Copied) -> None:
    """Nobody watches."""


def test_places_before_within_between_and_after_records_are_translated(tmp_path: Path) -> None:
    with open_log(tmp_path / "a") as source, open_log(tmp_path / "b") as target:
        fill(source)
        target.create_topic("clicks")
        list(copy_topics([Route(source, target, "clicks")], tell=quietly, witness=KeptMap(target)))
        gap = source.bounds("clicks", 0).end - 6
        offsets = OffsetMap(source, target)
        found = [offsets.translated(CLICKS, at) for at in (0, 2, 3, 3 + gap, 4 + gap, 6 + gap, 99)]
        assert found == [0, 2, 3, 3, 4, 6, 6]
        source.create_topic("empty")
        target.create_topic("empty")
        assert offsets.translated(TopicPartition("empty", 0), 0) == 0


def test_a_copy_among_records_of_others_is_not_mapped(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        rows = rows_of_bytes([b"1", b"2"])
        landing = Landing(CLICKS, "a", "b", rows, Appended(0, 2))
        transaction: Transaction = log.transaction("t")
        with pytest.raises(TopicError, match="MIGRATE_TARGET_WRITTEN"):
            KeptMap(log).saw(landing, transaction)
        transaction.close()


def test_the_line_of_the_log_stands_before_all_tables(tmp_path: Path) -> None:
    file = settings_file(tmp_path)
    write_log_setting(file, "kafka://a:1")
    assert tomllib.loads(file.read_text()) == {"log": "kafka://a:1"}
    file.write_text('home = "x"\nlog = ""\n[spark]\nmaster = "local"\n')
    write_log_setting(settings_file(tmp_path), "kafka://b:2")
    told = tomllib.loads(file.read_text())
    assert told == {"log": "kafka://b:2", "home": "x", "spark": {"master": "local"}}


def test_what_cannot_be_moved_is_refused_before_anything_is_done(working_directory: Path) -> None:
    move = Migration(load_settings(), "kafka://127.0.0.1:1", working_directory)
    with open_home(move.home) as log:
        fill(log)
        member = log.join("readers", ["clicks"])
        with pytest.raises(JobError, match="MIGRATE_RUNNING"):
            move.plan()
        member.leave()
    unmoved = move.home / "jobs" / "words"
    (unmoved / "0_0").mkdir(parents=True)
    with pytest.raises(StateError, match="MIGRATE_JOB"):
        move.plan()
    (move.home / "kafka.json").write_text("{}")
    with pytest.raises(LogError, match="MIGRATE_SOURCE"):
        move.plan()
