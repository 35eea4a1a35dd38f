"""What the numbers were taken on: enough to judge them by, nothing that names a machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

import psutil

_PACKAGES = ("penstock", "pyarrow", "numpy", "pyspark", "crc32c")


@dataclass(frozen=True, slots=True)
class Machine:
    """The hardware in numbers, and the versions of what took part."""

    cores: int
    memory_gib: int
    system: str
    processor: str
    python: str
    packages: Mapping[str, str]


def this_machine() -> Machine:
    """Describe the machine this process runs on."""
    return Machine(
        cores=_cores(),
        memory_gib=round(psutil.virtual_memory().total / 2**30),
        system=platform.system(),
        processor=platform.machine(),
        python=platform.python_version(),
        packages={name: version(name) for name in _PACKAGES},
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
