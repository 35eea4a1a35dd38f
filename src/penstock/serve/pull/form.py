"""Answers in other forms than JSON: CSV, and a stream of Arrow."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pyarrow as pa

from penstock.serve.pull.answer import PullAnswer, json_cell

CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"


def csv_text(answer: PullAnswer) -> str:
    """Give rows below their names; what is no single value as JSON, and null as nothing."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([_csv_cell(cell) for cell in row] for row in answer.rows)
    return text.getvalue()


def arrow_bytes(answer: PullAnswer) -> bytes:
    """Give rows as Arrow's stream format has them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, answer.table.schema) as stream:
        stream.write_table(answer.table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _csv_cell(value: Any) -> Any:  # noqa: ANN401  # a value of any type
    shown = json_cell(value)
    if isinstance(shown, bool):
        return str(shown).lower()
    if isinstance(shown, list | dict):
        return json.dumps(shown, ensure_ascii=False)
    return shown
