"""The root of an embedded log: the file that says "this is a log, of this format"."""

from __future__ import annotations

import uuid

from penstock.clock import Clock
from penstock.errors import CorruptionError, LogError
from penstock.log.embedded.catalog import TOPICS
from penstock.log.embedded.sealed_json import seal, unseal
from penstock.log.embedded.transaction_file import TRANSACTIONS
from penstock.log.storage import Storage

ROOT_FILE = "penstock-log"
FORMAT = 1


def open_root(storage: Storage, clock: Clock) -> None:
    """Check that a storage holds a log this Penstock can read; make one where it is empty."""
    try:
        data = storage.read(ROOT_FILE)
    except FileNotFoundError:
        _make(storage, clock)
        return
    document = unseal(data)
    if document is None:
        raise CorruptionError(
            "ROOT_CORRUPT",
            f'the file "{ROOT_FILE}" fails its checksum at byte 0',
            hint="Restore the file from a copy; the topics beside it are untouched.",
        )
    if document["format"] > FORMAT:
        raise LogError(
            "LOG_NEWER",
            f"the log has format {document['format']}, this Penstock reads up to {FORMAT}",
            hint="Upgrade Penstock to read this log.",
        )


def _make(storage: Storage, clock: Clock) -> None:
    foreign = [name for name in storage.list("") if name not in {TOPICS, TRANSACTIONS, "groups"}]
    if foreign and not storage.exists(ROOT_FILE):
        raise LogError(
            "NOT_A_LOG",
            f'the directory has "{foreign[0]}" in it and is not a log',
            hint="Give an empty or a new directory.",
        )
    storage.make_directory(TOPICS)
    storage.make_directory(TRANSACTIONS)
    document = {"format": FORMAT, "log_id": uuid.uuid4().hex, "created_at": clock.now()}
    storage.replace(ROOT_FILE, seal(document), sync=True)
