"""A topic of bytes as a table that can be asked: the last value of each key."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN, TopicPartition

_LIMIT = ReadLimit(columns=(KEY_COLUMN, VALUE_COLUMN))


class Lookup:
    """Follows a topic: each question is answered with what is in it by then."""

    def __init__(self, home: Path, topic: str) -> None:
        self._log = open_log(home)
        self._topic = topic
        self._offsets: dict[TopicPartition, int] = {}
        self._rows: dict[bytes, bytes] = {}
        self._guard = threading.Lock()

    def rows(self) -> Mapping[bytes, bytes]:
        """Give the value of each key."""
        with self._guard:
            self._follow()
            return dict(self._rows)

    def get(self, key: bytes) -> bytes | None:
        """Give the value of a key."""
        with self._guard:
            self._follow()
            return self._rows.get(key)

    def close(self) -> None:
        """Let go of the log."""
        self._log.close()

    def _follow(self) -> None:
        if self._topic not in self._log.topics():
            return  # what is not there yet holds nothing
        for at, bounds in self._log.snapshot([self._topic]).items():
            offset = max(self._offsets.get(at, 0), bounds.start)
            while offset < bounds.end:
                chunk = self._log.read(at.topic, at.partition, offset, _LIMIT)
                self._take(chunk.rows)
                offset = chunk.next_offset
            self._offsets[at] = offset

    def _take(self, rows: pa.Table) -> None:
        keys, values = (rows.column(name).to_pylist() for name in (KEY_COLUMN, VALUE_COLUMN))
        for key, value in zip(keys, values, strict=True):
            if value is None:
                self._rows.pop(key, None)
            elif key is not None:
                self._rows[key] = value
