from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest

from penstock.errors import TopicError, TransactionError
from penstock.log.mirror import Route, opened_mirror
from penstock.log.mirroring import Copied, copy_topics, follow_topics
from penstock.log.open import open_log
from penstock.log.port import Bounds, Log, ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig

Made = Callable[[str], Log]
PAIRS = [
    ("embedded", "embedded"),
    pytest.param(("embedded", "kafka"), marks=pytest.mark.slow),
    pytest.param(("kafka", "embedded"), marks=pytest.mark.slow),
    pytest.param(("kafka", "kafka"), marks=pytest.mark.slow),
]


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Made]:
    """Opens a log of a kind; each embedded one is another."""
    with ExitStack() as stack:

        def of(kind: str) -> Log:
            place = tmp_path / uuid4().hex
            kafka = request.getfixturevalue("kafka") if kind == "kafka" else None
            log: Log = open_log(f"kafka://{kafka.address}") if kafka else open_log(place)
            stack.callback(log.close)
            return log

        yield of


@pytest.fixture
def name() -> str:
    return f"clicks-{uuid4().hex[:8]}"


def fill(log: Log, topic: str, *, first: int = 0, count: int = 6) -> None:
    """Write records of all kinds to both partitions, with an aborted transaction between."""
    for partition in (0, 1):
        numbers = range(first, first + count)
        rows = rows_of_bytes(
            [None if n % 5 == 4 else b"v%d" % n for n in numbers],
            keys=[b"k%d" % (n % 3) for n in numbers],
            timestamps=[1_700_000_000_000 - n for n in numbers],
            headers=[(("h", b"%d" % n), ("none", None)) if n % 2 else () for n in numbers],
        )
        log.append(topic, partition, rows)
        transaction = log.transaction(f"aborted-{topic}")
        transaction.begin()
        transaction.append(topic, partition, rows)
        transaction.abort()
        transaction.close()


def records(log: Log, topic: str, partition: int) -> list[dict[str, object]]:
    """All that a reader sees, but for the offsets."""
    start, end = log.bounds(topic, partition)
    found: list[dict[str, object]] = []
    while start < end:
        chunk = log.read(topic, partition, start, ReadLimit())
        found += chunk.rows.drop_columns(["_offset"]).to_pylist()
        start = chunk.next_offset
    return found


def copy(*routes: Route) -> list[Copied]:
    return list(copy_topics(routes, tell=lambda _: None))


def same(source: Log, target: Log, topic: str, renamed: str = "") -> bool:
    return all(
        records(source, topic, number) == records(target, renamed or topic, number)
        for number in range(source.topic(topic).partitions)
    )


@pytest.mark.parametrize("pair", PAIRS)
def test_a_topic_is_copied_whole_and_later_only_what_is_new(
    opened: Made, name: str, pair: tuple[str, str]
) -> None:
    source, target = map(opened, pair)
    # Nothing is compacted while the test compares.
    config = TopicConfig(
        cleanup="compact,delete",
        retention=timedelta(days=9999),
        min_compaction_lag=timedelta(days=9000),
    )
    source.create_topic(name, partitions=2, config=config)
    fill(source, name)
    route = Route(source, target, name, renamed=f"copy.{name}")
    assert copy(route) == [Copied(name, f"copy.{name}", 2, 12, 0)]
    made = target.topic(f"copy.{name}")
    assert (made.partitions, made.config) == (2, source.topic(name).config)
    assert same(source, target, name, f"copy.{name}")
    assert copy(route)[0].records == 0
    fill(source, name, first=6)
    assert copy(route)[0].records == 12
    assert same(source, target, name, f"copy.{name}")


@pytest.mark.parametrize("pair", PAIRS)
def test_a_typed_topic_keeps_its_columns_and_deletions(
    opened: Made, name: str, pair: tuple[str, str]
) -> None:
    source, target = map(opened, pair)
    schema = pa.schema([pa.field("user", pa.string(), nullable=False), ("n", pa.int64())])
    source.create_topic(name, schema=schema)
    rows = {
        "_key": pa.array([b"a", b"b", b"a"], pa.binary()),
        "_deleted": pa.array([False, False, True]),
        "user": pa.array(["ann", "bob", None]),
        "n": pa.array([1, None, None], pa.int64()),
    }
    source.append(name, 0, pa.table(rows))
    copy(Route(source, target, name, renamed=f"copy.{name}"))
    assert target.topic(f"copy.{name}").schema == schema
    assert same(source, target, name, f"copy.{name}")


class PowerCutError(Exception):
    """Ends a copy at a place of the test's choice."""


def cut_off(route: Route, *, after_commit: bool) -> None:
    """Copy one batch and die next to its commit, with the transaction left open."""
    with opened_mirror(route) as mirror:
        (lane,) = mirror.lanes
        commit = lane.transaction.commit

        def cut(note: str = "") -> None:
            if after_commit:
                commit(note)
            raise PowerCutError

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(lane.transaction, "commit", cut)
            mirror.step()


@pytest.mark.parametrize("pair", PAIRS)
def test_a_copy_that_was_cut_off_goes_on_with_nothing_twice(
    opened: Made,
    name: str,
    pair: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("penstock.log.mirror.BATCH_BYTES", 1)
    monkeypatch.setattr("penstock.log.mirror._SMALLEST_SHARE", 1)
    source, target = map(opened, pair)
    source.create_topic(name, partitions=2)
    for first in (0, 6, 12):
        fill(source, name, first=first)
    route = Route(source, target, name, renamed=f"copy.{name}")
    for after_commit in (False, True, False):
        with pytest.raises(PowerCutError):
            cut_off(route, after_commit=after_commit)
    copy(route)
    assert same(source, target, name, f"copy.{name}")


def test_partitions_beyond_one_note_are_copied_by_several_transactions(
    opened: Made, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.log.mirror._LANE", 1)
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name, partitions=2)
    fill(source, name)
    copy(Route(source, target, name))
    fill(source, name, first=6)
    assert copy(Route(source, target, name))[0].records == 12
    assert same(source, target, name)


def test_who_copies_the_same_topic_later_fences_the_first(opened: Made, name: str) -> None:
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name, partitions=2)
    fill(source, name)
    route = Route(source, target, name)
    with ExitStack() as stack:
        first = stack.enter_context(opened_mirror(route))
        second = stack.enter_context(opened_mirror(route))
        second.step()
        with pytest.raises(TransactionError, match="WRITER_FENCED"):
            first.step()
        with pytest.raises(TransactionError, match="WRITER_FENCED"):
            stack.close()
    assert same(source, target, name)


def test_following_copies_what_is_written_meanwhile(opened: Made, name: str) -> None:
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name, partitions=2)
    fill(source, name)
    seen: list[Copied] = []

    def tell(copied: Copied) -> None:
        seen.append(copied)
        if len(seen) == 1:
            fill(source, name, first=6)

    routes = [Route(source, target, name)]
    follow_topics(routes, tell=tell, going_on=lambda: not seen or seen[-1].records < 24)
    assert same(source, target, name)


def test_a_target_with_records_of_others_is_added_to_only_by_wish(opened: Made, name: str) -> None:
    source, target = opened("embedded"), opened("embedded")
    for log in (source, target):
        log.create_topic(name, partitions=2)
        fill(log, name)
    with pytest.raises(TopicError, match="MIRROR_TARGET_FILLED"):
        copy(Route(source, target, name))
    assert copy(Route(source, target, name, appends=True))[0].records == 12
    assert copy(Route(source, target, name))[0].records == 0


def test_a_target_that_was_made_anew_is_filled_anew(opened: Made, name: str) -> None:
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name, partitions=2)
    fill(source, name)
    copy(Route(source, target, name))
    target.delete_topic(name)
    assert copy(Route(source, target, name))[0].records == 12
    assert same(source, target, name)


def test_a_target_that_does_not_fit_is_refused(opened: Made, name: str) -> None:
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name, partitions=2)
    source.create_topic("typed", schema=pa.schema([("n", pa.int64())]))
    target.create_topic(name, partitions=3)
    target.create_topic("typed")
    with pytest.raises(TopicError, match="MIRROR_PARTITIONS"):
        copy(Route(source, target, name))
    with pytest.raises(TopicError, match="MIRROR_SCHEMA"):
        copy(Route(source, target, "typed"))
    with pytest.raises(TopicError, match="MIRROR_ITSELF"):
        copy(Route(source, source, name))


def test_what_retention_took_before_it_was_copied_is_told(tmp_path: Path, name: str) -> None:
    with open_log(tmp_path / "a") as source, open_log(tmp_path / "b") as target:
        source.create_topic(name)
        source.append(name, 0, rows_of_bytes([b"1", b"2"]))
        copy(Route(source, target, name))
        source.append(name, 0, rows_of_bytes([b"3", b"4", b"5"]))
        source.delete_records(name, 0, before_offset=4)
        assert copy(Route(source, target, name)) == [Copied(name, name, 1, 1, 2)]


def test_a_source_that_ends_before_what_was_copied_is_refused(
    opened: Made, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = opened("embedded"), opened("embedded")
    source.create_topic(name)
    source.append(name, 0, rows_of_bytes([b"1", b"2"]))
    copy(Route(source, target, name))
    monkeypatch.setattr(type(source), "bounds", lambda *_: Bounds(0, 1))
    with pytest.raises(TopicError, match="MIRROR_POSITION"):
        copy(Route(source, target, name))
