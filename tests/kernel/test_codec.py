from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import polars as pl
import pytest

from penstock.errors import StateError
from penstock.kernel.codec import Written, decode, encode, encode_into, read
from penstock.kernel.columns import from_rows
from penstock.kernel.port import Frame, State, Time
from penstock.schema.schema import Field, Schema
from penstock.schema.types import (
    BOOLEAN,
    BYTES,
    DATE,
    FLOAT64,
    INT32,
    INT64,
    STRING,
    TIMESTAMP,
    array_of,
    decimal_of,
    map_of,
    struct_of,
)

COLUMNS = {
    "boolean": (BOOLEAN, True),
    "int32": (INT32, -1),
    "int64": (INT64, 2**40),
    "float64": (FLOAT64, float("inf")),
    "string": (STRING, "a string that is longer than twelve bytes"),
    "bytes": (BYTES, b"\x00"),
    "timestamp": (TIMESTAMP, datetime(2024, 1, 1, tzinfo=UTC)),
    "date": (DATE, date(1960, 1, 1)),
    "decimal": (decimal_of(20, 2), Decimal("1.25")),
    "array": (array_of(FLOAT64), [1.0, None]),
    "map": (map_of(INT64), {"a": 1}),
    "struct": (struct_of(a=INT32, b=STRING), {"a": 1, "b": None}),
}


def some_table() -> Frame:
    schema = Schema(tuple(Field(name, type_) for name, (type_, _) in COLUMNS.items()))
    row = {name: value for name, (_, value) in COLUMNS.items()}
    return from_rows([row, {}, row], schema)


STATE = State({"fold": some_table(), "none": some_table().clear()}, Time(-5, 7))


def test_a_state_comes_back_as_it_was() -> None:
    again = decode(encode(STATE, "sum@1"), "sum@1")
    assert again.time == STATE.time
    assert list(again.tables) == ["fold", "none"]
    for name, table in STATE.tables.items():
        assert again.tables[name].schema == table.schema
        assert again.tables[name].equals(table)


def test_the_state_of_a_start_has_no_tables() -> None:
    assert decode(encode(State(), "f"), "f") == State()


def test_the_same_state_has_the_same_bytes() -> None:
    assert encode(STATE, "f") == encode(STATE, "f")


def test_a_slice_of_a_table_is_stored_alone() -> None:
    large = pl.DataFrame({"k": ["a string that is longer than twelve bytes"] * 10_000})
    assert len(encode(State({"t": large.slice(50, 2)}), "f")) < 2_000


@pytest.mark.parametrize("place", [0, 9, 17, 40, 700, -1])
def test_a_changed_byte_is_found(place: int) -> None:
    blob = bytearray(encode(STATE, "f"))
    blob[place] ^= 4
    with pytest.raises(StateError, match="STATE_UNREADABLE"):
        decode(bytes(blob), "f")


@pytest.mark.parametrize("size", [0, 7, 20, 100])
def test_a_state_cut_short_is_found(size: int) -> None:
    with pytest.raises(StateError, match="STATE_UNREADABLE") as caught:
        decode(encode(STATE, "f")[:size], "f")
    assert caught.value.hint


def test_a_layout_of_a_later_release_is_named() -> None:
    blob = bytearray(encode(STATE, "f"))
    blob[8] = 9
    with pytest.raises(StateError, match=r"STATE_UNREADABLE.*layout 9"):
        decode(bytes(blob), "f")


def test_the_state_of_another_operator_is_refused() -> None:
    with pytest.raises(StateError, match=r"STATE_FOREIGN.*max@2, not to sum@1"):
        decode(encode(STATE, "max@2"), "sum@1")


# In a process of its own: where it goes wrong no thread of it ever runs again.
WRITTEN_AND_READ = """
import threading, time
import polars as pl
from penstock.kernel.codec import encode
from penstock.kernel.port import State

table = pl.DataFrame({"n": range(1000)})
end = time.monotonic() + 0.5

def read():
    while time.monotonic() < end:
        table.height

readers = [threading.Thread(target=read) for _ in range(2)]
for reader in readers:
    reader.start()
while time.monotonic() < end:
    encode(State({"held": table}), "")
"""


def test_a_table_is_stored_while_other_threads_look_at_it() -> None:
    subprocess.run([sys.executable, "-c", WRITTEN_AND_READ], check=True, timeout=60)


def test_what_is_written_into_a_file_is_read_like_a_blob(tmp_path: Path) -> None:
    rows = pl.DataFrame({"n": range(1000), "text": ["a text of more than twelve"] * 1000})
    # Of a choice of rows the others are not written.
    state = State({"a": rows[::100], "b": pl.DataFrame(), "c": rows}, Time(5, 6))
    written = Written(state, "mine", {"some": "form"})
    sums = []
    for name in ("one", "other"):
        with (tmp_path / name).open("x+b", buffering=0) as file:
            sums.append(encode_into(file, written))
    blob = (tmp_path / "one").read_bytes()
    found = read(blob)
    assert sums[0] == sums[1]
    assert len(blob) < len(encode(state, "mine", {"some": "form"})) + 128
    assert (found.fingerprint, found.form, found.state.time) == ("mine", written.form, state.time)
    for name, table in state.tables.items():
        assert found.state.tables[name].equals(table)
