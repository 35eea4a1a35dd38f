"""The log as a Spark worker has it: opened once a process, shared by all its tasks."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from penstock.log.open import open_log
from penstock.log.port import Log
from penstock.schema.codec.codec_cache import CodecCache
from penstock.schema.codec.schemas import Schemas


def worker_log(home: str) -> Log:
    """Give the log kept in a directory, opening it at the first call of this process."""
    return _opened(home, os.getpid())


def worker_codecs(home: str, registry: str) -> CodecCache:
    """Give the codecs of programs on a log, made at the first call of this process."""
    return _codecs(home, registry, os.getpid())


def codecs_of(log_of: Callable[[], Log], registry: str) -> CodecCache:
    """Give codecs whose schemas are in a log, or in the registry at an address."""

    def schemas() -> Schemas:
        # Most programs have no registry: its parts are loaded by those that have.
        from penstock.schema.registry.open import open_schemas  # noqa: PLC0415

        return open_schemas(log_of(), registry)

    return CodecCache(schemas)


@lru_cache(maxsize=16)
def _codecs(home: str, registry: str, _process: int) -> CodecCache:
    return codecs_of(lambda: worker_log(home), registry)


@lru_cache(maxsize=16)
def _opened(home: str, _process: int) -> Log:
    # Keyed by process too: a fork must not share its parent's files and threads.
    return open_log(home)
