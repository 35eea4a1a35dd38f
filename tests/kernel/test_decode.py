from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from penstock.errors import ModelError, RunError
from penstock.kernel.decode import Decoder, Opened
from penstock.kernel.port import DEAD_COLUMNS, Counts
from penstock.log.record import Headers
from penstock.log.rows import integer_array, rows_of_bytes
from penstock.model.source import Stream
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.format import Format
from penstock.schema.schema import Field, Schema
from penstock.schema.types import INT64, STRING

EVENT = Schema((Field("user", STRING), Field("n", INT64)))
STREAM = Stream("events", EVENT, format=Format("json"), site="app.py:3")
TABLE = replace(STREAM, key=("user",))


def opened(
    stream: Stream,
    values: list[bytes | None],
    *,
    keys: list[bytes | None] | None = None,
    headers: list[Headers] | None = None,
) -> Opened:
    count = len(values)
    records = rows_of_bytes(
        values,
        keys=keys or [None] * count,
        timestamps=[1000 + number for number in range(count)],
        headers=headers or [()] * count,
    )
    offsets = integer_array(np.arange(7, 7 + count, dtype=np.int64))
    numbered = records.append_column("_offset", offsets)
    return Decoder(stream, CodecCache()).open(numbered, 2)


def test_values_become_rows_that_know_when_and_where_the_log_took_them() -> None:
    found = opened(STREAM, [b'{"user": "a", "n": 1}', b'{"n": 2}'])
    assert found.rows.to_dicts() == [
        {"user": "a", "n": 1, "_offset": 7, "_taken": 1000, "_partition": 2},
        {"user": None, "n": 2, "_offset": 8, "_taken": 1001, "_partition": 2},
    ]
    assert found.unread.letters is None
    assert found.unread.counts == Counts()


def test_a_value_that_cannot_be_read_is_a_letter_with_its_whole_record() -> None:
    values: list[bytes | None] = [b'{"n": 1}', b"\xff\x00", b'{"n": 3}']
    headers: list[Headers] = [(), (("h", b"\x01"), ("h", None)), ()]
    found = opened(STREAM, values, keys=[b"a", b"\xfe", b"c"], headers=headers)
    assert found.rows["n"].to_list() == [1, 3]
    letters = found.unread.letters
    assert letters is not None
    assert dict(letters.schema) == dict(DEAD_COLUMNS)
    (letter,) = letters.to_dicts()
    error = letter.pop("error")
    assert error.startswith("[VALUE_UNREADABLE] ")
    assert letter == {
        "step": "events",
        "site": "app.py:3",
        "traceback": None,
        "row": None,
        "time": 1001,
        "topic": "events",
        "partition": 2,
        "offset": 8,
        "timestamp": 1001,
        "key": b"\xfe",
        "headers": [{"key": "h", "value": b"\x01"}, {"key": "h", "value": None}],
        "raw": b"\xff\x00",
    }
    assert found.unread.counts == Counts(taken=1, dead=1)


def test_a_stream_that_skips_only_counts_what_it_cannot_read() -> None:
    found = opened(replace(STREAM, on_error="skip"), [b"{", b'{"n": 1}', b"}"])
    assert found.rows["n"].to_list() == [1]
    assert found.unread.letters is None
    assert found.unread.counts == Counts(taken=2, filtered=2)


def test_a_stream_that_fails_names_the_record_and_why() -> None:
    with pytest.raises(RunError, match="VALUE_UNREADABLE") as caught:
        opened(replace(STREAM, on_error="fail"), [b'{"n": 1}', b"{"])
    assert 'the value at offset 8 of partition "events-2" cannot be read' in caught.value.fact
    assert "json" in caught.value.fact
    assert "app.py:3" in caught.value.fact


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ModelError, match="ON_ERROR") as caught:
        replace(STREAM, on_error="skp")  # type: ignore[arg-type]
    assert caught.value.hint == 'Did you mean "skip"?'


def test_a_record_without_a_value_is_no_row_of_a_stream() -> None:
    found = opened(STREAM, [None, b'{"n": 1}'])
    assert found.rows["_offset"].to_list() == [8]
    assert found.unread.counts == Counts()


def test_a_tombstone_deletes_the_row_of_its_key_from_a_table() -> None:
    found = opened(TABLE, [b'{"user": "a", "n": 1}', None], keys=[b"a", b"a"])
    assert found.rows.select("user", "n", "_weight").rows() == [("a", 1, 1), ("a", None, -1)]


def test_keys_with_a_format_fill_the_columns_that_values_leave_out() -> None:
    numbered = Stream(
        "users",
        Schema((Field("id", INT64, nullable=False), Field("name", STRING))),
        key=("id",),
        format=Format("json"),
        key_format=Format("long"),
    )
    keys: list[bytes | None] = [(5).to_bytes(8, "big"), (6).to_bytes(8, "big"), b"short", None]
    values: list[bytes | None] = [b'{"name": "ann"}', None, b'{"name": "bob"}', b'{"name": "cy"}']
    found = opened(numbered, values, keys=keys)
    assert found.rows.select("id", "name", "_weight").rows() == [(5, "ann", 1), (6, None, -1)]
    assert found.unread.letters is not None
    errors = found.unread.letters["error"].to_list()
    assert errors[0].startswith("[VALUE_UNREADABLE] its key: ")
    assert errors[1] == '[VALUE_UNREADABLE] neither key nor value has the column "id"'


def test_a_changelog_of_bytes_has_its_weights_in_the_values() -> None:
    found = opened(replace(STREAM, changelog=True), [b'{"user": "a", "n": 1, "_weight": -1}'])
    assert found.rows.select("user", "_weight").rows() == [("a", -1)]


def test_no_records_give_no_rows() -> None:
    found = opened(STREAM, [])
    assert found.rows.height == 0
    assert found.unread.letters is None


def test_records_in_pieces_are_read_as_one() -> None:
    records = rows_of_bytes([b'{"n": 1}'], keys=[None], timestamps=[1], headers=[()])
    part = records.append_column("_offset", integer_array(np.array([0], np.int64)))
    whole = pa.concat_tables([part, part])
    found = Decoder(STREAM, CodecCache()).open(whole, 0)
    assert found.rows["n"].to_list() == [1, 1]
