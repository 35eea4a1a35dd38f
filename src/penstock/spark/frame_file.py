"""Frames on their way from task to task of one machine: in files, not through Spark's JVM.

What goes through an exchange of Spark is copied some times and compressed once. A file that one
task writes and another one maps is neither: it lives as long as its batch, is never synced, and
mostly never reaches the disk. On a cluster there is no folder for such files; packets hold their
frames.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING
from uuid import uuid4

import polars as pl
import pyarrow as pa

from penstock.kernel.port import Frame
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.spark.cluster.master import is_local
from penstock.spark.scratch import SCRATCH

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FOLDER = "frames"
_ALIGN = 64


def prepared_folder(session: SparkSession, job: str) -> str:
    """Give the folder of a job's frames, empty; no name where its tasks may share no machine."""
    scratch = session.conf.get(SCRATCH, "")
    if not scratch or not is_local(session.sparkContext.master or ""):
        return ""
    folder = str(Path(scratch) / _FOLDER / job)
    clear(folder)
    return folder


def clear(folder: str) -> None:
    """Remove the files of a batch that is over, and what tasks that were ended have left."""
    # There is none before the first file, nor when the session has ended meanwhile.
    with contextlib.suppress(FileNotFoundError):
        for path in Path(folder).iterdir() if folder else ():
            path.unlink(missing_ok=True)


def write_file(folder: str, frames: Sequence[Frame]) -> tuple[str, list[int]]:
    """Write some frames into a file of their own; give it, and the bytes of each."""
    path = Path(folder) / uuid4().hex
    with coded_storage_errors(f'writing "{path}"'):
        # Who tidies up the system's place for temporary files may take an idle job's folder.
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb", buffering=0) as file:
            return str(path), [write_frame(frame, file) for frame in frames]


def write_frame(frame: Frame, target: IO[bytes]) -> int:
    """Write a frame so that it can be read where it lies; give its bytes."""
    begin = target.tell()
    frame.write_ipc_stream(target, compression="uncompressed", compat_level=pl.CompatLevel.newest())
    end = target.tell()
    # Aligned, frames are read where they lie.
    target.write(bytes(-end % _ALIGN))
    return target.tell() - begin


def mapped(path: str) -> pa.Buffer:
    """Give what a file holds, for as long as anything of it is used, whoever removes the file."""
    with pa.memory_map(path) as file:
        return file.read_buffer()


def read_frame(buffer: pa.Buffer) -> Frame:
    """Give what `write_frame` wrote."""
    frame = pl.from_arrow(pa.ipc.open_stream(buffer).read_all())
    assert isinstance(frame, pl.DataFrame)
    return frame
