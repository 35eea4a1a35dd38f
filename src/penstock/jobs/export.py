"""A job as a folder that needs nothing of ours to be read: Parquet, JSON and text.

definition.json   what the job is meant to be, its versions and what was done to it
plan.txt          what it means, and how it is computed
source/           the file its program is written in, where it is still there
positions.json    the next offset to read of every partition
results/          every record of each topic that it writes, late rows and dead letters too
state/            what its operators remember, a file a table
input/            every record of each topic that it reads, where asked for
savepoint/        the same job for another home of ours: `penstock jobs restore`
README.md         how to read these
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from penstock.errors import UsageError
from penstock.jobs.control import event
from penstock.jobs.definition import Definition
from penstock.jobs.definitions import definition_store
from penstock.jobs.named import Named, hushed, named
from penstock.jobs.plan_text import plan_texts
from penstock.jobs.submit import known_program
from penstock.jobs.view import definition_document
from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.log.record import DELETED_COLUMN, PARTITION_COLUMN
from penstock.log.rows import row_schema
from penstock.log.stretch import tables_now
from penstock.model.physical import Physical
from penstock.spark.job_files import current_files
from penstock.spark.output import outlets
from penstock.spark.progress_file import left_before, read_start
from penstock.spark.savepoint import save
from penstock.spark.savepoint_files import complete_or_absent
from penstock.spark.stored_states import state_tables

_README = """# Job {name}, exported from Penstock

Nothing of Penstock is needed to read this folder: Parquet, JSON and text.

- `definition.json`: what the job is meant to be; `plan.txt`: what its program means; `source/`:
  the file it is written in.
- `results/TOPIC.parquet`: the records of each topic it writes. `_partition` and `_offset` say where
  a record is; offsets are in the order of writing. Where a topic holds a table, the record of the
  highest offset for a `_key` is the row, and none where `_deleted` is true. A column `_weight` of
  -1 takes an earlier row back.
- `state/OPERATOR/TABLE.parquet`: what it remembers.
- `positions.json`: the next offset to read of every partition of its input: all before it is in
  the results and the state, nothing after it is.
- `input/TOPIC.parquet`: the records it reads, if they were asked for.
- `savepoint/`: the same for Penstock itself: `penstock jobs restore {name} savepoint`.
"""


@dataclass(frozen=True, slots=True)
class Exported:
    """A folder, and how many rows each Parquet file in it has."""

    folder: Path
    rows: Mapping[str, int]


def export(
    home: Path, text: str, folder: Path, *, with_input: bool = False, seconds: float = 60.0
) -> Exported:
    """Write a job into a new folder, complete or not at all; it is quiet meanwhile."""
    if folder.exists():
        raise UsageError(
            "EXPORT_EXISTS",
            f'"{folder}" exists already',
            hint="Give a folder that does not exist yet.",
        )
    found = named(home, text)
    with hushed(home, found, seconds), complete_or_absent(folder.absolute()) as fresh:
        if current_files(Path(found.checkpoint)).program is not None:
            # First: it ends a batch that is half done, whose rows the others need.
            save(home, found.checkpoint, fresh / "savepoint")
        physical = known_program(home, text)
        rows = _write_topics(home, fresh, physical, with_input=with_input)
        rows |= _write_state(fresh, found, physical)
        _write_texts(home, fresh, found, physical)
    if found.definition is not None:
        definition_store(home).tell(found.name, event("exported", str(folder)))
    return Exported(folder, rows)


def _write_topics(
    home: Path, folder: Path, physical: Physical, *, with_input: bool
) -> dict[str, int]:
    with open_log(home) as log:
        known = set(log.topics())
        written = {outlet.topic for outlet in outlets(physical).values()}
        read = {scan.stream.topic for scan in physical.scans if scan.stream.files is None}
        wanted = [("results", topic) for topic in sorted(written & known)]
        wanted += [("input", topic) for topic in sorted(read & known)] if with_input else []
        return {
            f"{kind}/{topic}.parquet": write_topic(log, topic, folder / kind / f"{topic}.parquet")
            for kind, topic in wanted
        }


def write_topic(log: Log, topic: str, path: Path) -> int:
    """Write every record of a topic to a file, with its partition; give how many there are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    described = log.topic(topic)
    schema = pa.schema([(PARTITION_COLUMN, pa.int32()), *row_schema(described)])
    rows = 0
    with pq.ParquetWriter(path, schema) as writer:
        for partition in range(described.partitions):
            for found in tables_now(log, topic, partition):
                number = pa.repeat(pa.scalar(partition, pa.int32()), found.num_rows)
                table = _said(found.add_column(0, schema.field(0), number))
                writer.write_table(table.cast(schema))
                rows += table.num_rows
    return rows


def _said(table: pa.Table) -> pa.Table:
    """Say of every record whether it deletes its key, also where the log leaves that out."""
    place = table.schema.get_field_index(DELETED_COLUMN)
    if place < 0:
        return table
    said = pc.fill_null(table.column(place), fill_value=False)
    return table.set_column(place, DELETED_COLUMN, said)


def _write_state(folder: Path, found: Named, physical: Physical) -> dict[str, int]:
    if current_files(Path(found.checkpoint)).program is None:
        return {}
    rows: dict[str, int] = {}
    for operator in physical.operators:
        for table, frame in state_tables(found.checkpoint, operator.id).items():
            path = folder / "state" / operator.id / f"{table}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(frame.to_arrow(), path)
            rows[str(path.relative_to(folder))] = frame.height
    return rows


def _write_texts(home: Path, folder: Path, found: Named, physical: Physical) -> None:
    definition = found.definition
    told = asdict(found.run) if definition is None and found.run else {}
    if definition is not None:
        told = _told(home, definition)
        source = Path(definition.source.partition(":")[0])
        if definition.source and source.is_file():
            (folder / "source").mkdir()
            shutil.copy2(source, folder / "source" / source.name)
    texts: Mapping[str, Callable[[], str]] = {
        "definition.json": lambda: _json(told),
        "positions.json": lambda: _json(_positions(Path(found.checkpoint))),
        "plan.txt": lambda: "\n\n".join(plan_texts(physical).values()) + "\n",
        "README.md": lambda: _README.format(name=found.name),
    }
    for name, text in texts.items():
        (folder / name).write_text(text(), encoding="utf-8")


def _told(home: Path, definition: Definition) -> dict[str, Any]:
    store = definition_store(home)
    history: Iterable[Any] = (asdict(item) for item in store.history(definition.name))
    return definition_document(definition) | {
        "versions": list(store.versions(definition.name)),
        "history": list(history),
    }


def _positions(checkpoint: Path) -> dict[str, dict[str, int]]:
    """Give the next offset of every partition, by topic and partition."""
    files = current_files(checkpoint)
    left, start = left_before(files), read_start(files.start)
    at = left.at if left is not None else None if start is None else start.offset
    found: dict[str, dict[str, int]] = {}
    for place, offset in sorted(at.positions.items()) if at is not None else ():
        found.setdefault(place.topic, {})[str(place.partition)] = offset
    return found


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
