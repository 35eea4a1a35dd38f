"""Rows made ready for a log before they are appended: checked and encoded, by any process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from penstock.log.storage import Bytes

if TYPE_CHECKING:
    import pyarrow as pa


class PreparedPart(NamedTuple):
    """Some rows as the log stores them; `form` is what else it has to know of them."""

    data: Bytes
    records: int
    form: tuple[int, ...]


class Prepared(NamedTuple):
    """Rows for a partition of one topic; its id says that it is still the same one."""

    topic_id: str
    parts: tuple[PreparedPart, ...]

    @property
    def num_rows(self) -> int:
        """How many rows there are, by the name that tables have for it."""
        return sum(part.records for part in self.parts)


@runtime_checkable
class PreparingLog(Protocol):
    """A log that takes `Prepared` rows wherever it takes a table of them."""

    def prepare(self, topic: str, rows: pa.Table) -> Prepared:
        """Check and encode rows; nothing is written."""
        ...
