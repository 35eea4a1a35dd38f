from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.nexmark.rows import START_MS, side_rows
from bench.nexmark.schemas import KINDS

Write = Callable[..., Path]

_NONE: dict[str, Any] = {
    **dict.fromkeys(("id", "auction", "bidder", "seller"), 1),
    **dict.fromkeys(("price", "initial_bid", "reserve"), 100),
    **dict.fromkeys(("date_time", "expires"), 0),
    "category": 10,
    "url": "https://h/a/b/c/item.htm?query=1",
}


@pytest.fixture
def events(tmp_path: Path) -> Write:
    """Write events by hand: what is not said is some plain value, times are in seconds."""

    def write(**kinds: list[dict[str, Any]]) -> Path:
        folder = tmp_path / "events"
        for kind, schema in KINDS.items():
            filled = [_filled(schema, row) for row in kinds.get(kind, [])]
            (folder / kind).mkdir(parents=True)
            table = pa.Table.from_pylist(filled, schema=schema)
            pq.write_table(table, folder / kind / "part-00000.parquet")
        (folder / "side").mkdir()
        pq.write_table(side_rows(), folder / "side" / "side.parquet")
        return folder

    return write


def _filled(schema: pa.Schema, given: dict[str, Any]) -> dict[str, Any]:
    row = {name: given.get(name, _NONE.get(name, "")) for name in schema.names}
    for name in ("date_time", "expires"):
        if name in row:
            row[name] = START_MS + int(row[name] * 1000)
    return row
