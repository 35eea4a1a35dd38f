"""A program that is run in this process, made again from the start of its topics."""

from __future__ import annotations

from pathlib import Path

from penstock.inline.state_store import StateStore
from penstock.log.port import Log
from penstock.model.physical import Physical
from penstock.spark.rebuild import forget


def forget_inline(
    physical: Physical, log: Log, checkpoint: Path, store: StateStore, transaction: str
) -> None:
    """Drop the state and all results of a program that does not run."""

    def more() -> None:
        store.clear()
        # What was noted last would name a snapshot that is gone.
        held = log.transaction(transaction)
        try:
            if held.note:
                held.begin()
                held.commit()
        finally:
            held.close()

    forget(physical, log, checkpoint, more)
