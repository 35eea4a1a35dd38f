"""Snapshots as files, and as a stream: every change of a state is a record of a compacted topic.

The records of a snapshot are one transaction, with its header last: a reader has all of it or
nothing. Where the files are gone the last record of each key, read from the start, is the state.
"""

from __future__ import annotations

import struct

from penstock.inline.local_store import LocalStore
from penstock.inline.state_store import Bucket, Cut, Found
from penstock.log.port import Log, Transaction
from penstock.log.record import KEY_COLUMN, VALUE_COLUMN
from penstock.log.rows import rows_of_bytes
from penstock.log.stretch import tables_between
from penstock.log.topic import TopicConfig

_HEADER = b"snapshot"
_NUMBER = struct.Struct("<q")
_LARGEST = 2**30
_TAIL = 16
"""Where the last header is found, unless transactions were given up after it."""


def state_topic(program: str) -> str:
    """Give the topic that holds the states of a program."""
    return f"{program}-state"


class ChangelogStore:
    """The snapshots of one program, in its checkpoint and in the log."""

    survives = True

    def __init__(self, local: LocalStore, log: Log, program: str) -> None:
        self._local = local
        self._log = log
        self._topic = state_topic(program)
        self._own = f"state-{program}"
        self._complete = False
        if self._topic not in log.topics():
            config = TopicConfig(cleanup="compact", max_record_bytes=_LARGEST)
            log.create_topic(self._topic, config=config)

    def current(self) -> int | None:
        """Give the number of the snapshot that counts: that of the topic, or of the files."""
        header = self._header()
        return self._local.current() if header is None else header[0]

    def read(self, number: int) -> Found | None:
        """Give a snapshot from its file, or else by replay of the topic."""
        header = self._header()
        self._complete = header is not None and header[0] == number
        found = self._local.read(number)
        if found is not None or header is None or not self._complete:
            return found
        records = self._replayed()
        blobs = {_bucket(key): value for key, value in records.items() if key != _HEADER}
        return Found(number, header[1], blobs, "changelog")

    def write(self, cut: Cut, within: Transaction | None) -> None:
        """Store a snapshot in a file, and what changed in the topic."""
        self._local.write(cut, within)
        changed = cut.changed if self._complete else cut.buckets
        records: dict[bytes, bytes | None] = {_key(bucket): None for bucket in cut.gone}
        records |= {_key(bucket): cut.blob(bucket) for bucket in sorted(changed)}
        if not self._complete:
            records = dict.fromkeys(self._replayed().keys() - {_HEADER}) | records
        records[_HEADER] = _NUMBER.pack(cut.number) + cut.header
        rows = rows_of_bytes(list(records.values()), keys=list(records))
        if within is not None:
            within.append(self._topic, 0, rows)
        else:
            own = self._log.transaction(self._own)
            try:
                own.begin()
                own.append(self._topic, 0, rows)
                own.commit(str(cut.number))
            finally:
                own.close()
        self._complete = True

    def note(self, number: int) -> None:
        """Let a snapshot count, and forget those before it."""
        self._local.note(number)

    def forget(self, number: int) -> None:
        """Forget all snapshots but one, which counts because its transaction is committed."""
        self._local.forget(number)

    def clear(self) -> None:
        """Forget everything: the files, and the topic with its records."""
        self._local.clear()
        if self._topic in self._log.topics():
            config = self._log.topic(self._topic).config
            self._log.delete_topic(self._topic)
            self._log.create_topic(self._topic, config=config)
        self._complete = False

    def _header(self) -> tuple[int, bytes] | None:
        """Give the number and the header of the last snapshot in the topic."""
        found = self._records(self._log.bounds(self._topic, 0).end - _TAIL).get(_HEADER)
        found = found or self._replayed().get(_HEADER)
        if not found:
            return None
        return _NUMBER.unpack_from(found)[0], found[_NUMBER.size :]

    def _replayed(self) -> dict[bytes, bytes]:
        """Give the last record of each key that was not deleted after it."""
        found = self._records(0)
        return {key: value for key, value in found.items() if value is not None}

    def _records(self, first: int) -> dict[bytes, bytes | None]:
        bound = self._log.bounds(self._topic, 0)
        found: dict[bytes, bytes | None] = {}
        begin, columns = max(first, bound.start), (KEY_COLUMN, VALUE_COLUMN)
        for table in tables_between(self._log, (self._topic, 0), begin, bound.end, columns):
            keys, values = (table.column(name) for name in columns)
            found.update(zip(keys.to_pylist(), values.to_pylist(), strict=True))
        return found


def _key(bucket: Bucket) -> bytes:
    return f"{bucket[0]}/{bucket[1]}".encode()


def _bucket(key: bytes) -> Bucket:
    operator, _, number = key.decode().rpartition("/")
    return operator, int(number)
