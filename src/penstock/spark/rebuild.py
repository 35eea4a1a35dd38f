"""Everything that was made of a program's input is dropped, so that it is made again from the log.

A view holds nothing that its input does not: its state, the topics it writes and its tables in
stores can go, and a run from the start gives them again with the same content.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from penstock.connect.results import drop_tables, stored_tables
from penstock.log.port import Log
from penstock.model.physical import Physical
from penstock.spark.batch_log import BatchLog, batch_topic
from penstock.spark.job_files import write_durably
from penstock.spark.output import outlets

_MARK = "rebuilding"
WITHOUT_RESULTS = "without-results"
"""An empty file in the folder of a generation whose results so far are to be dropped."""


def forget(
    physical: Physical, log: Log, checkpoint: Path, more: Callable[[], None] = lambda: None
) -> None:
    """Drop the state and all results of a program that does not run; topics stay, empty.

    What is interrupted is done by the next start: until it is over, a mark lies in the checkpoint.
    `more` drops what else belongs to it.
    """
    write_durably(checkpoint / _MARK, b"")
    drop_results(physical, log)
    BatchLog(log, batch_topic(physical.name, checkpoint.name)).remove()
    more()
    for path in checkpoint.iterdir():
        if path.name == _MARK:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    (checkpoint / _MARK).unlink()


def drop_results(physical: Physical, log: Log) -> None:
    """Empty the topics that a program writes, and remove its tables in stores."""
    for topic in sorted({outlet.topic for outlet in outlets(physical).values()}):
        empty_topic(log, topic)
    drop_tables(stored_tables(physical).values())


def drop_if_asked(physical: Physical, log: Log, folder: Path) -> None:
    """Drop the results where a generation says that it begins without those of the one before."""
    if (folder / WITHOUT_RESULTS).exists():
        drop_results(physical, log)
        (folder / WITHOUT_RESULTS).unlink()


def is_forgetting(checkpoint: Path) -> bool:
    """Whether a rebuild was begun here and interrupted before the program ran again."""
    return (checkpoint / _MARK).exists()


def empty_topic(log: Log, topic: str) -> None:
    """Remove all records of a topic; it keeps its partitions, schema and settings."""
    if topic not in log.topics():
        return
    known = log.topic(topic)
    log.delete_topic(topic)
    log.create_topic(topic, partitions=known.partitions, schema=known.schema, config=known.config)
