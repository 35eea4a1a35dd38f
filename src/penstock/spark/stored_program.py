"""A program as a file that Spark's workers load: the user's functions travel in it."""

from __future__ import annotations

import hashlib
import sys
from functools import lru_cache
from pathlib import Path

from pyspark import cloudpickle

from penstock.kernel.program import Program
from penstock.model.physical import Physical
from penstock.spark.job_files import JobFiles, write_durably
from penstock.spark.state_codec import StateCodec


def store_program(files: JobFiles, physical: Physical) -> Path:
    """Store a program beside its checkpoint, in place of the one before."""
    # Workers must find the user's modules where this process found them.
    whole = cloudpickle.dumps((list(sys.path), cloudpickle.dumps(physical)))  # type: ignore[no-untyped-call]
    path = files.folder / f"program-{hashlib.sha256(whole).hexdigest()[:16]}.pickle"
    write_durably(path, whole)
    for old in files.folder.glob("program-*.pickle"):
        if old != path:
            old.unlink(missing_ok=True)
    return path


@lru_cache(maxsize=8)
def load_program(path: str) -> Program:
    """Give the program stored at a path, ready to work; once a process."""
    found, pickled = cloudpickle.loads(Path(path).read_bytes())
    sys.path.extend(place for place in found if place not in sys.path)
    return Program(cloudpickle.loads(pickled))


@lru_cache(maxsize=64)
def codec_of(path: str, operator: str) -> StateCodec:
    """Give what reads and writes the states of an operator of a stored program; once a process."""
    return StateCodec(load_program(path).keyed[operator])
