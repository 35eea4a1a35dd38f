"""A program as a file that Spark's workers load: the user's functions travel in it."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from pyspark import cloudpickle

from penstock.errors import StateError
from penstock.kernel.program import Program
from penstock.model.physical import Physical
from penstock.plan.user_code import own_modules
from penstock.spark.job_files import JobFiles, write_durably
from penstock.spark.state_codec import StateCodec


def program_bytes(physical: Physical) -> bytes:
    """Give a program as bytes that any process of this machine can make it from again.

    The functions of the user's file and of the modules beside it are in them; other modules are
    found by name.
    """
    # Whoever loads it must find the user's modules where this process found them.
    places = [str(Path(place).absolute()) for place in sys.path]
    with _by_value(own_modules()):
        return cloudpickle.dumps((places, cloudpickle.dumps(physical)))  # type: ignore[no-untyped-call, no-any-return]


@contextmanager
def _by_value(modules: Sequence[ModuleType]) -> Iterator[None]:
    """Let what is pickled hold the functions of modules, not their names."""
    known = cloudpickle.list_registry_pickle_by_value()  # type: ignore[no-untyped-call]
    fresh = [module for module in modules if module.__name__ not in known]
    for module in fresh:
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        for module in fresh:
            cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


def program_of(data: bytes) -> Physical:
    """Give the program that `program_bytes` gave the bytes of."""
    places, pickled = cloudpickle.loads(data)
    sys.path.extend(place for place in places if place not in sys.path)
    physical: Physical = cloudpickle.loads(pickled)
    return physical


def store_program(files: JobFiles, physical: Physical) -> Path:
    """Store a program beside its checkpoint, in place of the one before."""
    return keep_program(files, program_bytes(physical))


def keep_program(files: JobFiles, whole: bytes) -> Path:
    """Store the bytes of a program beside its checkpoint, in place of the one before."""
    path = files.folder / _name(whole)
    write_durably(path, whole)
    for old in files.folder.glob("program-*.pickle"):
        if old != path:
            old.unlink(missing_ok=True)
    return path


@lru_cache(maxsize=8)
def load_program(path: str) -> Program:
    """Give the program stored at a path, ready to work; once a process."""
    return Program(program_of(stored_bytes(Path(path))))


def stored_bytes(path: Path) -> bytes:
    """Give the bytes of a stored program; those that are not what was stored are refused."""
    whole = path.read_bytes()
    if path.name != _name(whole):
        raise StateError(
            "JOB_FILE_BROKEN",
            f'"{path}" is not what a job wrote: its name is that of another program',
            hint="Start the job once with its program, which is stored anew then.",
        )
    return whole


def _name(whole: bytes) -> str:
    return f"program-{hashlib.sha256(whole).hexdigest()[:16]}.pickle"


@lru_cache(maxsize=64)
def codec_of(path: str, operator: str) -> StateCodec:
    """Give what reads and writes the states of an operator of a stored program; once a process."""
    return StateCodec(load_program(path).keyed[operator])
