"""`python -m bench.nexmark.events EVENTS [DISORDER_MS]` makes a folder of events, once.

A folder holds the same rows twice: as Parquet files in the order of arrival, and as typed topics of
two partitions in a log of Penstock.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.catalog import ROOT
from bench.nexmark.rows import (
    AUCTIONS,
    EPOCH,
    PERSONS,
    auctions,
    bids,
    channels,
    persons,
    side_rows,
    times_of,
)
from bench.nexmark.schemas import KINDS, SIDE
from bench.nexmark.words import Numbers
from penstock.log.open import open_log

FOLDER = ROOT / "artifacts" / "nexmark"
PARTITIONS = 2
_FILES_PER_MILLION = 8
_MILLION = 1_000_000


def events_folder(events: int, disorder_ms: int = 0, *, below: Path = FOLDER) -> Path:
    """Give the folder of so many events; it is made on its first use."""
    folder = below / f"{events}-{disorder_ms}"
    if not folder.exists():
        print(f"making {events:,} events in {folder.name}", file=sys.stderr)
        made = below / f".{folder.name}-{os.getpid()}"
        try:
            write_events(made, events, disorder_ms=disorder_ms)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    return folder


def write_events(
    folder: Path, events: int, *, seed: int = 1, disorder_ms: int = 0, files: int | None = None
) -> None:
    """Write so many events, each at most so late, as files and as topics."""
    parts = files or max(_FILES_PER_MILLION, events * _FILES_PER_MILLION // _MILLION)
    for kind in (*KINDS, "side"):
        (folder / kind).mkdir(parents=True)
    pq.write_table(side_rows(), folder / "side" / "side.parquet")
    with open_log(folder / "log") as log:
        for kind, schema in KINDS.items():
            log.create_topic(kind, partitions=PARTITIONS, schema=schema)
        log.create_topic("side", partitions=PARTITIONS, schema=SIDE)
        for partition, rows in enumerate(_dealt(side_rows(), 0)):
            log.append("side", partition, rows)
        dealt = dict.fromkeys(KINDS, 0)
        for number, tables in enumerate(_parts(events, seed, disorder_ms, parts)):
            for kind, table in tables.items():
                _write_file(folder / kind, number, table)
                for partition, rows in enumerate(_dealt(table, dealt[kind])):
                    log.append(kind, partition, rows)
                dealt[kind] += table.num_rows


def _parts(events: int, seed: int, disorder_ms: int, parts: int) -> Iterator[dict[str, pa.Table]]:
    """Give the rows of each part of the time, by kind, in the order of arrival."""
    ways = channels(np.random.default_rng([seed, 0]))
    arrivals = _arrivals(events, np.random.default_rng([seed, 1]), disorder_ms)
    for number, numbers in enumerate(np.array_split(arrivals, parts)):
        random = np.random.default_rng([seed, 2, number])
        place = numbers % EPOCH
        yield {
            "person": persons(random, numbers[place < PERSONS]),
            "auction": auctions(random, numbers[(place >= PERSONS) & (place < PERSONS + AUCTIONS)]),
            "bid": bids(random, numbers[place >= PERSONS + AUCTIONS], ways),
        }


def _arrivals(events: int, random: np.random.Generator, disorder_ms: int) -> Numbers:
    """Give the numbers of the events as they arrive, each at most so many milliseconds late."""
    numbers = np.arange(events)
    if disorder_ms == 0:
        return numbers
    arrived = times_of(numbers) + random.integers(0, disorder_ms + 1, events)
    return numbers[np.argsort(arrived, kind="stable")]


def _dealt(table: pa.Table, before: int) -> list[pa.Table]:
    """Deal rows out to the partitions by turns, as a producer without keys does.

    Whole files by turns would put seconds of event time between the two partitions.
    """
    shares = []
    for partition in range(PARTITIONS):
        first = (partition - before) % PARTITIONS
        shares.append(table.take(pa.array(np.arange(first, table.num_rows, PARTITIONS))))
    return shares


def _write_file(folder: Path, number: int, table: pa.Table) -> None:
    path = folder / f"part-{number:05}.parquet"
    pq.write_table(table, path, compression="snappy")
    # Engines that read a directory as a stream go by the time of change: in whole seconds, some.
    os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))


if __name__ == "__main__":
    print(events_folder(*(int(number.replace("_", "")) for number in sys.argv[1:])))
