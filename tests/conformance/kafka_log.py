"""Checks of the facts about Kafka's log: compaction, retention, offsets, producer state.

Each drives a real partition in memory, with a clock that moves only when told to. Where
Kafka has a high watermark, a partition of ours has its stable offset: an open
transaction stands at it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, TypeAlias

from penstock.errors import LogError
from penstock.log.embedded.cleanable import CleanableRange, cleanable_range
from penstock.log.embedded.cleaner import PartitionCleaner
from penstock.log.embedded.compaction import Cleaning
from penstock.log.port import WriterStamp
from penstock.log.topic import TopicConfig
from tests.conformance.kafka_compaction import check_compaction_script
from tests.conformance.kafka_partition_log import PartitionLog
from tests.conformance.runner import Case, Check, holds, same

Fields: TypeAlias = dict[str, Any]
_DAY = 24 * 60 * 60 * 1000
_NUMBERS = {"one": 1, "two": 2, "three": 3, "a": 1, "an": 1}


def check_cleanable_range(case: Case) -> None:
    """Ask which offsets may be compacted, of a log as described or after the steps of a story."""
    if "steps" in case.given:
        _check_cleanable_story(case)
        return
    given = case.given
    log = _log_up_to(given, given.get("segments", 8) * 10, per_segment=10)
    if "log_start" in given:
        log.move_start(given["log_start"])
    _same_range(_ask(log, given, now=given.get("now", _DAY)), case.expect)


def check_retention(case: Case) -> None:
    """Let a log be cleaned as its policy says, and look at what is left."""
    given, expect = case.given, case.expect
    if "segment_bytes" in given:
        _check_roll_by_size(given, expect)
    elif "log_start_moved_to" in given and isinstance(given["log_start_moved_to"], list):
        for number, start in enumerate(given["log_start_moved_to"]):
            log = _log_for_retention(given)
            _clean_up(log, given, start=start)
            same(log.segment_count(), expect["segments_left"][number], "segments left")
            same(log.start_offset(), expect["log_start"][number], "log start")
    else:
        _check_one_retention(given, expect)


def check_offset_lookup(case: Case) -> None:
    """Ask for offsets by time, and for both ends; leader epochs are Kafka's replication."""
    log = PartitionLog(TopicConfig())
    records = case.given.get("records", [])
    for record in records:
        log.append([b"k"], timestamp=record["timestamp"])
    times = {record["offset"]: record["timestamp"] for record in records}
    found: int | None
    for asked, answer in zip(case.given["ask"], case.expect["answers"], strict=True):
        bounds = log.partition.reader.bounds("committed")
        match asked:
            case "earliest":
                found, timestamp = bounds.start, -1
            case "latest":
                found, timestamp = bounds.end, -1
            case _:
                found = log.partition.reader.offset_at_time(asked)
                timestamp = -1 if found is None else times[found]
        if answer is None:
            same(found, None, f"offset at {asked}")
        else:
            same(found, answer["offset"], f"offset at {asked}")
            same(timestamp, answer.get("timestamp", timestamp), f"timestamp at {asked}")


def check_idempotent_append(case: Case) -> None:
    """Append with sequences: new, repeated, too old, with a gap, of another epoch."""
    given = case.given
    log = PartitionLog(TopicConfig())
    for append, result in zip(given["appends"], case.expect["results"], strict=True):
        stamp = WriterStamp(
            append.get("producer", given.get("producer", 1)),
            append.get("epoch", given.get("epoch", 0)),
            append["first_sequence"],
        )
        try:
            found = log.append([b"k"] * append["records"], stamp=stamp)
        except LogError as error:
            same(error.code, _code_of(result.get("error", "no error")), f"error of {append}")
            continue
        holds("error" not in result, f"{append} is refused: {result}")
        offsets = [found.base_offset, found.last_offset]
        wanted = result.get("offsets") or result.get("duplicate_of") or offsets
        same(offsets, wanted, f"offsets of {append}")
        same(found.duplicate, "offsets" not in result, f"duplicate {append}")


def check_last_stable_offset(case: Case) -> None:
    """Follow the first undecided offset through the steps of a story."""
    log = PartitionLog(TopicConfig())
    wanted = case.expect["first_unstable_offset_after_each"]
    for step, first_unstable in zip(case.given["steps"], wanted, strict=True):
        _take_step(log, step)
        head = log.partition.reader.head()
        found = head.stable_offset if head.open else None
        same(found, first_unstable, f"first unstable offset after {step!r}")


def _check_cleanable_story(case: Case) -> None:
    given = case.given
    log = PartitionLog(TopicConfig(cleanup="compact", segment_age=None))
    answers = iter(case.expect["answers"])
    for step in given["steps"]:
        for part in re.split(r"[;:]\s+", step):
            if match := re.search(r"(\d+) later|t0\s*\+\s*(\d+)", part):
                log.clock.advance(int(match[1]) if match[1] else int(match[2]) - log.clock.now())
            _take_step(log, part)
            if re.search(r"\bask\b", part):
                _same_range(_ask(log, given, now=log.clock.now()), next(answers))
    same(list(answers), [], "answers not asked for")


def _ask(log: PartitionLog, given: Fields, now: int) -> CleanableRange:
    lag = timedelta(milliseconds=given.get("min_compaction_lag_ms", 0))
    cleaner = PartitionCleaner(
        Cleaning(log.storage, log.partition, log.topic_with(min_compaction_lag=lag))
    )
    return cleanable_range(
        log.partition.reader.head(),
        [item for item in cleaner._segments() if not item.active],
        log.topic_with(min_compaction_lag=lag).config,
        last_clean=given.get("last_clean") or 0,
        now=now,
    )


def _same_range(found: CleanableRange, wanted: Mapping[str, Any]) -> None:
    same(found.first_dirty, wanted.get("first_dirty", found.first_dirty), "first dirty")
    same(found.first_uncleanable, wanted["first_uncleanable"], "first uncleanable")


def _take_step(log: PartitionLog, step: str) -> None:
    """Do what a step tells in words: records of a producer, a marker, a roll."""
    if match := re.search(r"(abort|commit) marker(?: of (?:producer )?(\d+))?", step):
        log.mark(int(match[2] or 1), committed=match[1] == "commit")
    elif match := re.search(r"offsets? (\d[\d, and-]*)", step):
        _take_records(log, step, len(re.findall(r"\d+", match[1])))
    elif match := re.search(r"(\d+|one|two|three|an?) (?:transactional|plain) record", step):
        _take_records(log, step, _NUMBERS.get(match[1]) or int(match[1]))
    if re.search(r"\broll", step):
        log.partition.appender.roll()


def _take_records(log: PartitionLog, step: str, count: int) -> None:
    named = re.search(r"(\d+|one|two|three|an?) (?:transactional|plain) record", step)
    count = count if named is None else _NUMBERS.get(named[1]) or int(named[1])
    producer = re.search(r"producer (\d+)", step)
    if "transactional" in step:
        log.append_in_transaction([b"k"] * count, int(producer[1]) if producer else 1)
    else:
        log.append([b"k"] * count)


def _check_one_retention(given: Fields, expect: Fields) -> None:
    log = _log_for_retention(given)
    before = log.segment_count()
    deleted = _clean_up(log, given, start=given.get("log_start_moved_to"))
    if "segments_left" in expect:
        same(log.segment_count(), expect["segments_left"], "segments left")
    if "log_start" in expect:
        same(log.start_offset(), expect["log_start"], "log start")
    if "segments_deleted" in expect:
        same(before - log.segment_count(), expect["segments_deleted"], "segments deleted")
    if "deleted_in_first_run" in expect:
        same(deleted, expect["deleted_in_first_run"], "segments deleted first")
        again = _clean_up(log, given, start=None)
        same(again, expect["deleted_in_second_run"], "segments deleted again")


def _clean_up(log: PartitionLog, given: Fields, start: int | None) -> int:
    """Clean at the time the case says; give how many segments went."""
    cleaner = PartitionCleaner(Cleaning(log.storage, log.partition, log.topic))
    if start is not None:
        cleaner.delete_records(start)
    first = {segment.base_offset for segment in log.segments() if segment.size}
    cleaner.clean(log.clock.now(), only_if_worth_it=True)
    return len(first - {segment.base_offset for segment in log.segments() if segment.size})


def _log_for_retention(given: Fields) -> PartitionLog:
    if isinstance(given.get("segments"), list):
        log = PartitionLog(_retention_config(given, 1), now=_DAY)
        for number, segment in enumerate(given["segments"]):
            if number:
                log.partition.appender.roll()
            time = _DAY + _after("t", segment["timestamp"])
            log.append([b"k"] * segment["records"], timestamp=time)
        log.clock.advance(_after("t", given["now"]))
        return log
    timestamps = given.get("record_timestamps", "now")
    now = 1000 * _DAY
    ages = {"now": 0}
    if match := re.match(r"(\d+) ms old", timestamps):
        ages[timestamps] = int(match[1])
    size = PartitionLog(TopicConfig()).record_size()
    log = PartitionLog(_retention_config(given, size * given.get("record_size", 1)), now=now)
    _fill(
        log, given, given["records"], given["records_per_segment"], now - ages.get(timestamps, now)
    )
    return log


def _retention_config(given: Fields, record_size: int) -> TopicConfig:
    milliseconds = given.get("retention_ms")
    most = given.get("retention_bytes")
    return TopicConfig(
        cleanup=given.get("policy", "delete"),
        segment_age=None,
        retention=None if milliseconds is None else timedelta(milliseconds=milliseconds),
        retention_bytes=None if most is None else most * record_size,
        min_dirty_ratio=1.0,
    )


def _check_roll_by_size(given: Fields, expect: Fields) -> None:
    size = PartitionLog(TopicConfig()).record_size()
    match = re.fullmatch(r"(\d+) x \(record size - (\d+)\)", given["segment_bytes"])
    holds(match is not None, f'"{given["segment_bytes"]}" is told as a product')
    assert match is not None
    log = PartitionLog(TopicConfig(segment_bytes=int(match[1]) * (size - int(match[2]))))
    for _ in range(given["records"]):
        log.append([b"k"])
    same(log.segment_count(), expect["segments"], "segments")


def _log_up_to(given: Fields, records: int, *, per_segment: int) -> PartitionLog:
    log = PartitionLog(TopicConfig(cleanup="compact", segment_age=None))
    _fill(log, given, records, given.get("records_per_segment", per_segment), 0)
    return log


def _fill(log: PartitionLog, given: Fields, records: int, per_segment: int, time: int) -> None:
    """Append single records; the one at the high watermark stays undecided."""
    watermark = given.get("high_watermark", records)
    watermark = watermark if isinstance(watermark, int) else 0
    for offset in range(records):
        if offset and offset % per_segment == 0:
            log.partition.appender.roll()
        if offset == watermark:
            log.append_in_transaction([b"k"], 1, timestamp=time)
        else:
            log.append([b"k"], timestamp=time)


def _after(name: str, told: str) -> int:
    match = re.fullmatch(rf"{name}(?:\s*\+\s*(\d+))?", told)
    holds(match is not None, f'"{told}" is a time after {name}')
    assert match is not None
    return int(match[1] or 0)


def _code_of(told: str) -> str:
    if "sequence" in told:
        return "SEQUENCE_GAP"
    return "WRITER_FENCED" if re.search(r"epoch|fenced", told) else told


LOG_CHECKS: Mapping[str, Check] = {
    "compaction_script": check_compaction_script,
    "cleanable_range": check_cleanable_range,
    "retention": check_retention,
    "offset_lookup": check_offset_lookup,
    "idempotent_append": check_idempotent_append,
    "last_stable_offset": check_last_stable_offset,
}
