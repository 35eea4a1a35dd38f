from __future__ import annotations

import polars as pl
import pyarrow as pa

from penstock.kernel.apply import apply
from penstock.kernel.dead import Failure, letters
from penstock.kernel.port import CONTROL
from penstock.model.source import Stream
from penstock.model.stateless import Apply
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BYTES, INT64

RECORDS = Schema((Field("value", BYTES), Field("_offset", INT64)))
GIVES = Schema((Field("n", INT64),))


def test_rows_of_which_a_result_says_why_there_are_none_are_failures() -> None:
    frame = pl.DataFrame(
        {
            "value": [b"1", b"x", b"3", b"y"],
            "_offset": [4, 5, 6, 7],
            "_weight": [1] * 4,
            "_time": [10, 20, 30, 40],
            "_taken": [10, 20, 30, 40],
        },
        schema_overrides=CONTROL,
    )

    def read(table: pa.Table) -> Decoded:
        assert table.column_names.count("_offset") == 1
        numbers = [int(text) if text.isdigit() else None for text in table["value"].to_pylist()]
        failures = {at: "no number" for at, number in enumerate(numbers) if number is None}
        return Decoded(pa.table({"n": pa.array(numbers, pa.int64())}), failures)

    step = Apply(Stream("t", RECORDS), "read", read, "arrow", GIVES)
    done = apply(step, frame, RECORDS.names)
    assert done.frame["n"].to_list() == [1, 3]
    assert done.frame["_time"].to_list() == [10, 30]
    assert [failure.place for failure in done.failures] == [1, 3]
    assert done.failures[0].error == "[VALUE_UNREADABLE] no number"
    assert done.filtered == 0


def test_the_letter_of_a_record_has_its_bytes() -> None:
    header = [{"key": "h", "value": b"v"}]
    frame = pl.DataFrame(
        {"_key": [b"k"], "value": [b"?"], "_timestamp": [7], "_headers": [header], "_time": [8]}
    )
    letter = letters(frame, ["value"], [Failure(0, "why")], step="read", site="FROM s").row(
        0, named=True
    )
    assert letter["row"] is None
    assert (letter["raw"], letter["key"], letter["timestamp"]) == (b"?", b"k", 7)
    assert letter["headers"] == header
