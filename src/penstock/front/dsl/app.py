"""A program: what it reads, and what it writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from penstock.errors import ModelError
from penstock.front.dsl.draw import draw
from penstock.front.dsl.formats import FormatLike, ReadAs, Said, read_as
from penstock.front.dsl.place import placed
from penstock.front.dsl.program import Program
from penstock.front.dsl.stream import Stream, Table
from penstock.front.dsl.watermarks import AHEAD, IDLE, bounded, maybe
from penstock.model.describe import describe
from penstock.model.duration import Duration
from penstock.model.graph import graph_of
from penstock.model.latest import Latest, Order
from penstock.model.plan import Plan
from penstock.model.site import user_site
from penstock.model.source import Stream as Source
from penstock.model.watermark import AtEnd, Watermark
from penstock.schema.annotation import SchemaLike, schema_of
from penstock.schema.codec.format import OnError
from penstock.schema.codec.schemas import Schemas


class App:
    """A named program; its streams say what is written, and nothing runs before `run`."""

    @placed
    def __init__(self, name: str) -> None:
        self._program = Program(name)

    @property
    def name(self) -> str:
        """What jobs and checkpoints of this program are called after."""
        return self._program.name

    @placed
    def stream(  # noqa: PLR0913  # all that one may say about a source
        self,
        topic: str,
        *,
        schema: SchemaLike | None = None,
        format: FormatLike | None = None,  # noqa: A002  # our word for it
        on_error: OnError = "dead_letter",
        event_time: str | None = None,
        lateness: Duration | None = None,
        watermark: Watermark | None = None,
        idle: Duration | None = IDLE,
        max_ahead: Duration | None = AHEAD,
        changelog: bool = False,
    ) -> Stream:
        """Read a topic.

        Where its values are bytes, `format` says how they are read: `"json"`, `delimited("|")`,
        `avro(subject="views-value")`. A value that cannot be read goes to the dead letters, is
        only counted (`on_error="skip"`), or ends the job (`"fail"`). Without `schema` the columns
        are those of the format's subject or schema, and without a format bytes: `_key`, `value`.

        `event_time` names the column that tells when each row happened; without it the time
        the log took the row counts. Rows may come `lateness` out of order, or as another
        `watermark` says. A partition without rows for `idle` is not waited for; a row more than
        `max_ahead` beyond the clock is parked. A `changelog` has a column `_weight`: -1 takes a
        row back.
        """
        if lateness is not None and watermark is not None:
            raise ModelError(
                "WATERMARK_TWICE",
                f'stream "{topic}" is given both lateness and a watermark',
                hint="lateness=d is short for watermark=bounded(d): give one of them.",
            )
        mark = watermark or bounded(lateness or "0s", idle=idle, max_ahead=max_ahead)
        found = self._read_as(topic, Said(schema=schema, format=format))
        source = Source(
            topic,
            found.columns,
            event_time,
            mark,
            changelog,
            user_site(),
            format=found.format,
            on_error=on_error,
        )
        return Stream(self._program, source)

    @placed
    def table(  # noqa: PLR0913  # all that one may say about a source
        self,
        topic: str,
        *,
        key: str | Sequence[str],
        schema: SchemaLike | None = None,
        format: FormatLike | None = None,  # noqa: A002  # our word for it
        key_format: FormatLike | None = None,
        on_error: OnError = "dead_letter",
        order: Order = "arrival",
        event_time: str | None = None,
        lateness: Duration | None = None,
        idle: Duration | None = IDLE,
        max_ahead: Duration | None = AHEAD,
    ) -> Table:
        """Read a topic as a table: the last record of each key is its row, a tombstone deletes it.

        By `order` "event time" a row that happened before the one held does not replace it.
        What is said of a stream's rows holds for these. `key_format` says how the keys of records
        are read where values are bytes: as text by default.
        """
        keys = (key,) if isinstance(key, str) else tuple(key)
        mark = bounded(lateness or "0s", idle=idle, max_ahead=max_ahead)
        found = self._read_as(topic, Said(schema=schema, format=format, key_format=key_format))
        source = Source(
            topic,
            found.columns,
            event_time,
            mark,
            site=user_site(),
            key=keys,
            format=found.format,
            on_error=on_error,
            key_format=found.key_format,
        )
        return Table(self._program, Latest(source, keys, order, user_site()))

    @placed
    def files(
        self,
        path: str | Path,
        *,
        schema: SchemaLike,
        name: str | None = None,
        event_time: str | None = None,
        max_ahead: Duration | None = AHEAD,
        changelog: bool = False,
    ) -> Stream:
        """Read files once: Parquet, CSV with a header or JSON lines, as their names end.

        `path` names a file, a folder, or several by a pattern such as `views/*.parquet`. What
        is said of a topic's rows holds for theirs; since they end, windows close when all have
        been read, in whatever order they are, and none is late. Without `event_time` the time
        the file was written counts. `name` is what the source is called, by default after the
        files.
        """
        place = Path(path).absolute()
        mark = AtEnd(max_ahead=maybe(max_ahead))
        source = Source(
            name or _called(place),
            schema_of(schema),
            event_time,
            mark,
            changelog,
            user_site(),
            str(place),
        )
        return Stream(self._program, source)

    def plan(self) -> Plan:
        """Give the program as a value; one that writes nothing is refused."""
        return self._program.plan()

    def describe(self) -> str:
        """Give the dataflow graph as text: its steps, and where each gets its rows."""
        return describe(self.plan())

    def svg(self) -> str:
        """Give the dataflow graph as a drawing."""
        return draw(graph_of(self.plan()))

    def _schemas(self) -> Schemas | None:
        """Give the registry where subjects are found; a program alone has none."""
        return None

    def _read_as(self, topic: str, said: Said) -> ReadAs:
        """Give how a topic is read."""
        return read_as(topic, said, self._schemas)

    def _repr_html_(self) -> str:
        if not self._program.sinks:
            return f"<p>{escape(self.name)} writes nothing yet.</p>"
        return self.svg()


def _called(path: Path) -> str:
    """Name files after what is the same in all their names, or after their folder."""
    for part in reversed(path.parts):
        plain = re.split(r"[*?\[.]", part)[0].strip("-_ ")
        if plain:
            return re.sub(r"[^A-Za-z0-9_-]+", "-", plain)
    return "files"
