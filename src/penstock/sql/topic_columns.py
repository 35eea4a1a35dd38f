"""The columns that topics of the log have, for statements about them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.log.port import Log
from penstock.schema.schema import Schema


@dataclass(frozen=True, slots=True)
class TopicColumns:
    """Looks at the topics of a log."""

    log: Log

    def columns(self, topic: str) -> Schema | None:
        """Give the columns of a topic; none where it has none, or is not there."""
        if topic not in self.log.topics():
            return None
        described = self.log.topic(topic)
        if described.schema is None:
            return None
        from penstock.log.rows import value_schema  # noqa: PLC0415  # Arrow
        from penstock.schema.arrow import from_arrow  # noqa: PLC0415  # Arrow

        return from_arrow(value_schema(described))
