from __future__ import annotations

import random
from pathlib import Path

import pytest

from penstock.clock import ManualClock
from penstock.errors import CorruptionError, TopicError
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.testing.faults import flip_bit, truncate_file
from tests.log.embedded.clean_kit import DAY, TOPIC, put, roll, rows

_CONFIG = TopicConfig(index_interval_bytes=600)
_SEALED = f"{0:020d}"
_ACTIVE = f"{11:020d}"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """The directory of a partition with a sealed segment and an aborted transaction."""
    with _opened(tmp_path) as log:
        log.create_topic(TOPIC, config=_CONFIG)
        transaction = log.transaction("writer")
        put(log, (b"a", b"1"), (b"b", b"2"))
        transaction.begin()
        transaction.append(TOPIC, 0, rows_of_bytes([b"no"], keys=[b"a"]))
        transaction.abort()
        for number in range(7):
            put(log, (b"c", b"%d" % number))
        roll(log)
        put(log, (b"d", b"1"))
        put(log, (b"e", b"1"))
        log.commit("group", {})
        transaction.close()
    return tmp_path / "topics" / TOPIC / "0"


def test_a_whole_log_has_nothing_to_report(place: Path) -> None:
    with _opened(place.parents[2]) as log:
        assert log.verify() == []
        assert log.repair() == ()


def test_verifying_a_topic_that_is_not_there_is_refused(place: Path) -> None:
    with _opened(place.parents[2]) as log, pytest.raises(TopicError, match="TOPIC_MISSING"):
        log.verify("nowhere")


@pytest.mark.parametrize("seed", range(40))
def test_a_flipped_bit_in_any_byte_of_a_segment_is_named(place: Path, seed: int) -> None:
    dice = random.Random(seed)
    path = place / f"{dice.choice([_SEALED, _ACTIVE])}.seg"
    position = dice.randrange(path.stat().st_size)
    flip_bit(path, position=position, bit=dice.randrange(8))
    with _opened(place.parents[2]) as log:
        named = [item for item in log.verify(TOPIC) if item.file.endswith(path.name) and item.byte]
        whole = [item for item in log.verify(TOPIC) if item.file.endswith(path.name)]
        assert any(item.byte <= position < item.byte + 1024 for item in [*named, *whole])
        with pytest.raises(CorruptionError, match="FRAME_CORRUPT"):
            rows(log)


@pytest.mark.parametrize(
    "name", ["head", "manifest-0", "aborted-0", f"{_SEALED}.idx", "writers", "../topic.json"]
)
def test_a_flipped_bit_in_any_other_file_is_named(place: Path, name: str) -> None:
    flip_bit(place / name, position=9)
    with _opened(place.parents[2]) as log:
        assert [Path(item.file).name for item in log.verify()] == [Path(name).name]


def test_documents_of_transactions_and_groups_are_checked_too(place: Path) -> None:
    root = place.parents[2]
    decided = next(path for path in (root / "transactions").iterdir() if path.name.isdigit())
    for path in (decided, root / "groups" / "group" / "offsets", root / "penstock-log"):
        flip_bit(path, position=20)
    found = EmbeddedLog.verify(_ready(root))
    assert {Path(item.file).name for item in found} == {decided.name, "offsets", "penstock-log"}


def test_a_missing_segment_is_named(place: Path) -> None:
    (place / f"{_SEALED}.seg").unlink()
    with _opened(place.parents[2]) as log:
        assert [item.what for item in log.verify()] == ["the file is missing"]


def test_a_segment_cut_short_is_named(place: Path) -> None:
    truncate_file(place / f"{_SEALED}.seg", size=1000)
    with _opened(place.parents[2]) as log:
        assert any("ends here" in item.what for item in log.verify())


@pytest.mark.parametrize(
    "hurt", [("head",), ("manifest-0",), ("aborted-0",), ("head", "manifest-0")]
)
def test_a_head_and_lists_that_are_hurt_are_rebuilt_from_the_segments(
    place: Path, hurt: tuple[str, ...]
) -> None:
    with _opened(place.parents[2]) as log:
        before, every = rows(log), _uncommitted(log)
    for name in hurt:
        path = place / name
        path.write_bytes(b"\xff" * path.stat().st_size)
    with _opened(place.parents[2]) as log:
        assert log.verify() != []
        assert log.repair() != ()
        assert log.verify() == []
        assert rows(log) == before
        assert _uncommitted(log) == every
        put(log, (b"f", b"1"))
        assert rows(log) == [*before, (13, b"f", b"1")]


def test_a_lost_head_is_rebuilt_after_compaction_too(place: Path) -> None:
    with _opened(place.parents[2]) as log:
        log.configure_topic(TOPIC, TopicConfig(cleanup="compact"))
        log.clean(TOPIC)
        before = rows(log)
    assert len(before) == 5
    (place / "head").unlink()
    (place / "manifest-1").unlink()
    _write_leftover(place)
    with _opened(place.parents[2]) as log:
        log.repair()
        assert rows(log) == before
        assert log.verify() == []


def test_an_index_that_is_hurt_is_rebuilt(place: Path) -> None:
    flip_bit(place / f"{_SEALED}.idx", position=3)
    with _opened(place.parents[2]) as log:
        before = rows(log)
        assert [item.done for item in log.repair()] == ["rebuilt from its segment"]
        assert log.verify() == []
        assert rows(log) == before


@pytest.mark.parametrize("name", [_SEALED, _ACTIVE])
def test_hurt_frames_stay_refused_until_they_are_cut_out(place: Path, name: str) -> None:
    with _opened(place.parents[2]) as log:
        before = rows(log)
    flip_bit(place / f"{name}.seg", position=200)
    with _opened(place.parents[2]) as log:
        assert [bool(item.left) for item in log.repair()] == [True]
        with pytest.raises(CorruptionError, match="FRAME_CORRUPT"):
            rows(log)
        log.repair(cut_corrupt=True)
        assert log.verify() == []
        lost = {0, 1} if name == _SEALED else {11}
        assert rows(log) == [row for row in before if row[0] not in lost]
        assert (place / f"{name}.hurt-{DAY}").exists()
        put(log, (b"f", b"1"))
        assert rows(log)[-1] == (13, b"f", b"1")


def test_a_hurt_copy_of_the_head_is_named_and_mended(place: Path) -> None:
    path = place / "head"
    with _opened(place.parents[2]) as log:
        change = log.partition(TOPIC, 0).reader.head().change
    flip_bit(path, position=(change % 2) * 4096 + 50)
    with _opened(place.parents[2]) as log:
        assert [item.byte for item in log.verify()] == [(change % 2) * 4096]
        log.repair()
        assert log.verify() == []


def _opened(root: Path) -> EmbeddedLog:
    return EmbeddedLog(DiskStorage(root), ManualClock(DAY))


def _ready(root: Path) -> EmbeddedLog:
    """A log opened while its root file was whole."""
    flip_bit(root / "penstock-log", position=20)
    log = _opened(root)
    flip_bit(root / "penstock-log", position=20)
    return log


def _uncommitted(log: EmbeddedLog) -> list[bytes]:
    found: list[bytes] = (
        log.read(TOPIC, 0, 0, ReadLimit(isolation="uncommitted")).rows["value"].to_pylist()
    )
    return found


def _write_leftover(place: Path) -> None:
    """What a killed cleaner leaves: the beginning of a segment of the next generation."""
    whole = (place / f"{_SEALED}-1.seg").read_bytes()
    (place / f"{_SEALED}-2.seg").write_bytes(whole[:700])
