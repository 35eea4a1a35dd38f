"""When rows happened, where the columns of a topic do not tell it before they are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.model.expr import Expr
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Times:
    """What `opens` makes of records, an Arrow table with `columns`, tells by `time`, in ms.

    `name` is what people call it. It gives a row for each record, as the step after does, which
    stamps the rows: here the watermark hears of it.
    """

    name: str
    opens: Callable[[Any], Any]
    columns: Schema
    time: Expr
