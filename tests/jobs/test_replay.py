from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

import penstock as ps
from penstock.errors import SchemaError, TopicError, TransactionError
from penstock.inline.run import InlineOptions
from penstock.jobs.dead_letters import Letter, dead_topics, letters, piles, require_dead_topic
from penstock.jobs.replay import LETTER_HEADER, ORIGIN_HEADER, Replayed, Selection, replay
from penstock.log.open import open_log
from penstock.log.port import Log, Transaction
from penstock.log.record import Headers
from penstock.log.rows import headers_array, rows_of_bytes
from penstock.schema.annotation import schema_of
from penstock.schema.arrow import to_arrow
from tests.requirements.homes import records

COLUMNS = {"id": int, "n": int}
GOOD, POISON = 99_000, 200


def poison(number: int) -> list[bytes]:
    """Give a value of each kind that the program cannot read."""
    return [
        b'{"id": %d, "n": "%d"' % (number, number),
        b"\xff\xfe%d" % number,
        b'{"id": %d, "n": "many"}' % number,
        b"%d;%d" % (number, number),
        b"[%d, %d]" % (number, number),
    ]


def values() -> list[bytes]:
    """Give 100,000 values of which 1 in 100 is one of five kinds of poison."""
    good = [b'{"id": %d, "n": 1}' % number for number in range(GOOD)]
    bad = [value for number in range(POISON) for value in poison(GOOD + number)]
    for number, value in enumerate(bad):
        good.insert(number * 100, value)
    return good


def before_the_fix(home: Path) -> ps.App:
    app = ps.App("events", home=home)
    app.stream("events", schema=COLUMNS, format="json").to("out")
    return app


def after_the_fix(home: Path) -> ps.App:
    """A program that makes something of every value, whatever it is."""
    app = ps.App("events", home=home)

    def mended(row: dict[str, Any]) -> dict[str, Any]:
        try:
            found = json.loads(row["value"])
            return {"id": int(found["id"]), "n": int(found["n"])}
        except (ValueError, TypeError):
            return {"id": 0, "n": -1}

    app.stream("events").map(mended, schema=COLUMNS).to("out")
    return app


def run(app: ps.App, **options: Any) -> None:  # noqa: ANN401
    how = {"until": "caught up", "rows": 20_000, "guarantee": "exactly-once", **options}
    app.run_here(options=InlineOptions(**how))


def publish(home: Path, topic: str, found: list[bytes], headers: Headers = ()) -> None:
    with open_log(home) as log:
        if topic not in log.topics():
            log.create_topic(topic, partitions=2)
        for partition in range(2):
            share = found[partition::2]
            rows = rows_of_bytes(
                share,
                keys=[b"k%d" % len(value) for value in share],
                timestamps=[1000 + number for number in range(len(share))],
                headers=[headers] * len(share),
            )
            log.append(topic, partition, rows)


def letters_of(home: Path, topic: str = "out.dead") -> list[Letter]:
    with open_log(home) as log:
        return list(letters(log, topic))


def replayed(home: Path, topic: str = "out.dead", selection: Selection | None = None) -> Replayed:
    with open_log(home) as log:
        return replay(log, topic, selection)


@pytest.mark.slow
def test_all_good_records_come_out_and_all_poison_after_the_fix_once(tmp_path: Path) -> None:
    sent = values()
    publish(tmp_path, "events", sent, headers=(("trace", b"\x00\x01"),))
    run(before_the_fix(tmp_path))
    assert len(records(tmp_path, "out")) == GOOD
    dead = letters_of(tmp_path)
    source = {(row["_partition"], row["_offset"]): row for row in records(tmp_path, "events")}
    assert len(dead) == 5 * POISON
    for letter in dead:
        record = source[letter.source.partition or 0, letter.source.offset or 0]
        assert letter.raw == record["value"]
        assert letter.key == record["_key"]
        assert letter.timestamp == record["_timestamp"]
        assert letter.headers == (("trace", b"\x00\x01"),)
    done = replayed(tmp_path)
    assert (done.records, done.before, done.rowless, done.gone) == (1000, 0, 0, 0)
    assert replayed(tmp_path).before == 1000, "a second replay sends nothing"
    run(after_the_fix(tmp_path))
    out = Counter(row["id"] for row in records(tmp_path, "out"))
    mended = [number for number in out.elements() if number]
    assert sum(out.values()) == len(sent), "nothing is missing"
    assert len(mended) == len(set(mended)), "nothing came twice"


def share_out(row: dict[str, Any]) -> dict[str, Any]:
    return {"id": row["id"], "n": 12 // row["n"]}


def with_function(home: Path, *, typed: bool) -> ps.App:
    app = ps.App("shares", home=home)
    source = app.stream("events", schema=COLUMNS, format=None if typed else "json")
    source.filter(ps.col("id") > 0).map(share_out, schema=COLUMNS).to("out")
    return app


def test_a_row_that_failed_in_a_step_goes_back_as_the_record_it_was(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic("events", schema=to_arrow(schema_of(COLUMNS)))
        table = pa.table({"id": [1, 2, 0], "n": [3, 0, 0]})
        table = table.append_column("_key", pa.array([b"a", b"b", b"c"]))
        headers = headers_array([(), (("trace", b"t"),), ()])
        log.append("events", 0, table.append_column("_headers", headers))
    run(with_function(tmp_path, typed=True))
    (letter,) = letters_of(tmp_path)
    assert letter.reason == "ZeroDivisionError"
    assert letter.traceback is not None
    assert letter.source == ("events", 0, 1)
    assert replayed(tmp_path).records == 1
    last = records(tmp_path, "events")[-1]
    assert (last["id"], last["n"], last["_key"]) == (2, 0, b"b")
    assert last["_headers"] == [
        {"key": "trace", "value": b"t"},
        {"key": ORIGIN_HEADER, "value": b"events/0/1"},
        {"key": LETTER_HEADER, "value": b"out.dead/0/0"},
    ]


def test_bytes_that_failed_in_a_step_go_back_as_they_were(tmp_path: Path) -> None:
    publish(tmp_path, "events", [b'{"id": 1, "n": 0,  "more": "than the columns"}'])
    run(with_function(tmp_path, typed=False))
    assert [letter.raw for letter in letters_of(tmp_path)] == [None]
    assert replayed(tmp_path).records == 1
    first, again = records(tmp_path, "events")
    assert first["value"] == again["value"]
    assert first["_timestamp"] == again["_timestamp"]


def test_a_record_that_failed_in_two_steps_goes_back_once(tmp_path: Path) -> None:
    app = ps.App("twice", home=tmp_path)
    source = app.stream("events", schema=COLUMNS, format="json")
    source.map(share_out, schema=COLUMNS).to("one", dead="parked")
    source.map(share_out, schema=COLUMNS).to("other", dead="parked")
    publish(tmp_path, "events", [b'{"id": 1, "n": 0}'])
    run(app)
    assert len(letters_of(tmp_path, "parked")) == 2
    done = replayed(tmp_path, "parked")
    assert (done.records, done.before) == (1, 1)
    assert all(letter.replayed for letter in letters_of(tmp_path, "parked"))


def test_letters_are_chosen_by_source_reason_and_offset(tmp_path: Path) -> None:
    app = ps.App("choosing", home=tmp_path)
    source = app.stream("events", schema=COLUMNS, format="json")
    source.map(share_out, schema=COLUMNS).to("out")
    publish(tmp_path, "events", [b"{", b'{"id": 1, "n": 0}', b"}", b'{"id": 2, "n": 0}'])
    run(app)
    with open_log(tmp_path) as log:
        found = {(pile.reason, pile.step, pile.source): pile for pile in piles(log)}
        assert dead_topics(log) == ("out.dead",)
        assert require_dead_topic(log, "out") == "out.dead"
        with pytest.raises(TopicError, match="DEAD_TOPIC") as caught:
            require_dead_topic(log, "events")
        assert caught.value.hint == "These do: out.dead."
    unread = found["VALUE_UNREADABLE", "events", "events"]
    raised = found["ZeroDivisionError", "share_out", "events"]
    assert (unread.letters, raised.letters, unread.replayed) == (2, 2, 0)
    assert replayed(tmp_path, selection=Selection(topic="other")).records == 0
    assert replayed(tmp_path, selection=Selection(reason="ZeroDivisionError")).records == 2
    first = letters_of(tmp_path)[0].offset
    one = Selection(offsets=lambda offset: offset == first)
    assert replayed(tmp_path, selection=one).records == 1
    assert (replayed(tmp_path).records, replayed(tmp_path).records) == (1, 0)
    assert len(records(tmp_path, "events")) == 8


class Dying:
    """A log whose transactions die before they are decided."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._log, name)

    def transaction(self, transactional_id: str) -> Transaction:
        found: Any = self._log.transaction(transactional_id)
        found.commit = self._die
        return cast("Transaction", found)

    def _die(self, note: str = "") -> None:
        message = f"power cut {note}"
        raise RuntimeError(message)


def test_a_crash_in_between_sends_nothing_and_the_next_replay_all(tmp_path: Path) -> None:
    publish(tmp_path, "events", [b"{", b"}"])
    run(before_the_fix(tmp_path))
    with open_log(tmp_path) as log, pytest.raises(RuntimeError, match="power cut"):
        replay(Dying(log), "out.dead")
    assert len(records(tmp_path, "events")) == 2
    assert replayed(tmp_path).records == 2
    assert len(records(tmp_path, "events")) == 4


def test_who_replays_while_another_does_fences_it(tmp_path: Path) -> None:
    publish(tmp_path, "events", [b"{", b"}"])
    run(before_the_fix(tmp_path))
    with open_log(tmp_path) as one, open_log(tmp_path) as other:
        late = one.transaction("replay-out.dead")
        late.begin()
        late.append("events", 0, rows_of_bytes([b"half"]))
        assert replay(other, "out.dead").records == 2
        with pytest.raises(TransactionError, match="FENCED"):
            late.commit()
        late.close()
    assert [row["value"] for row in records(tmp_path, "events")].count(b"half") == 0


def test_letters_of_rows_brought_together_do_not_know_their_record(tmp_path: Path) -> None:
    app = ps.App("grouped", home=tmp_path)
    source = app.stream("events", schema=COLUMNS, format="json")
    source.group_by("id").count().map(fail, schema=COLUMNS).to("out")
    publish(tmp_path, "events", [b'{"id": 1, "n": 0}'])
    run(app, until="end")
    done = replayed(tmp_path)
    assert (done.records, done.rowless) == (0, 1)


def fail(row: dict[str, Any]) -> dict[str, Any]:
    raise ValueError(row)


def test_letters_whose_record_is_gone_are_counted(tmp_path: Path) -> None:
    publish(tmp_path, "events", [b'{"id": 1, "n": 0}'])
    run(with_function(tmp_path, typed=False))
    with open_log(tmp_path) as log:
        log.delete_topic("events")
        log.create_topic("events", partitions=2)
        done = replay(log, "out.dead")
    assert (done.records, done.gone) == (0, 1)


def test_a_dead_letter_topic_from_before_takes_letters_without_records(tmp_path: Path) -> None:
    before = pa.schema(
        [(name, pa.string()) for name in ("step", "site", "error", "traceback", "row")]
        + [("time", pa.int64())]
    )
    with open_log(tmp_path) as log:
        log.create_topic("events", schema=to_arrow(schema_of(COLUMNS)))
        log.append("events", 0, pa.table({"id": [1], "n": [0]}))
        log.create_topic("out.dead", schema=before)
    run(with_function(tmp_path, typed=True))
    (letter,) = letters_of(tmp_path)
    assert (letter.row, letter.source.offset) == ('{"id":1,"n":0}', None)
    assert replayed(tmp_path).rowless == 1
    with open_log(tmp_path) as log:
        log.delete_topic("events")
    publish(tmp_path, "events", [b"{"])
    with pytest.raises(SchemaError, match="OUTPUT_SCHEMA") as caught:
        run(before_the_fix(tmp_path))
    assert 'dead="parked"' in caught.value.hint


def test_letters_of_a_topic_made_anew_are_not_taken_for_those_before(tmp_path: Path) -> None:
    publish(tmp_path, "events", [b"{", b"}"])
    run(before_the_fix(tmp_path))
    assert replayed(tmp_path).records == 2
    run(before_the_fix(tmp_path), rebuild=True)
    assert replayed(tmp_path).records == 2, "the replayed records failed again, and nothing else"
    with open_log(tmp_path) as log:
        log.delete_topic("events")
    publish(tmp_path, "events", [b"{", b"}"])
    run(before_the_fix(tmp_path), rebuild=True)
    assert replayed(tmp_path).records == 2
