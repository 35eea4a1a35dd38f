"""Removing the files of a deleted topic, after telling those who still have them open."""

from __future__ import annotations

from dataclasses import replace

from penstock.errors import CorruptionError
from penstock.log.embedded.appender import LOCK_FILE
from penstock.log.embedded.head import HEAD_FILE, publish_head, read_head
from penstock.log.storage import Storage, held


def bury_topic(storage: Storage, directory: str) -> None:
    """Mark every partition as deleted, so that no open writer appends to it, and remove it all."""
    for name in storage.list(directory):
        if storage.exists(f"{directory}/{name}/{HEAD_FILE}"):
            _mark_deleted(storage, f"{directory}/{name}")
    storage.remove_tree(directory)


def _mark_deleted(storage: Storage, partition: str) -> None:
    lock = storage.lock(f"{partition}/{LOCK_FILE}")
    path = f"{partition}/{HEAD_FILE}"
    try:
        with held(lock):
            file = storage.open(path, write=True)
            publish_head(file, replace(read_head(file, path), deleted=True))
            file.close()
    except (FileNotFoundError, CorruptionError):
        # Another process buries it too, or it cannot be read by anybody: either way it may go.
        return
    finally:
        lock.close()
