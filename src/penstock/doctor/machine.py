"""Checks of the machine itself: memory, and the environment it gives us."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from penstock.config import DRIVER_MEMORY, Settings, stray_variables
from penstock.errors import ConfigError, SetupError

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
# What one Python worker of Spark holds with pyarrow and pandas loaded, with room for its batches.
_WORKER_BYTES = 512 * 2**20
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def check_memory(settings: Settings) -> str:
    """Spark's JVM and a Python worker fit into the memory that is free."""
    wanted = settings.spark_driver_memory
    needed = int(wanted[:-1]) * _UNITS[wanted[-1]] + _WORKER_BYTES
    free = free_memory()
    if free < needed:
        raise SetupError(
            "MEMORY_LOW",
            f"{in_words(free)} of memory are free; Spark with {wanted} needs {in_words(needed)}",
            hint=f"Close other programs, or give Spark less: {DRIVER_MEMORY.variable}=512m",
        )
    return f"{in_words(free)} free, {in_words(needed)} needed"


def check_variables(_: Settings) -> str:
    """No variable with our prefix goes unread."""
    for name, suggestion in stray_variables(os.environ).items():
        raise ConfigError(
            "CONFIG_VARIABLE",
            f'variable "{name}" sets nothing',
            hint=suggestion or f"Unset {name}.",
        )
    return "every PENSTOCK_ variable is a setting"


def free_memory(meminfo: Path = Path("/proc/meminfo"), limits: tuple[Path, ...] = _LIMITS) -> int:
    """The bytes a new program can have, within the limit of a container."""
    return min([_available(meminfo), *_container_limits(limits)])


def in_words(size: int) -> str:
    """Write a number of bytes as people do."""
    for unit, bytes_in_unit in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= bytes_in_unit:
            return f"{size / bytes_in_unit:.1f} {unit}"
    return f"{size} B"


def _available(meminfo: Path) -> int:
    try:
        match = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text(), re.MULTILINE)
    except OSError:
        match = None
    if match is None:
        # Not Linux: what is free is not told, so take what is built in.
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return int(match[1]) * 1024


def _container_limits(files: tuple[Path, ...]) -> Iterator[int]:
    for file in files:
        try:
            text = file.read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            yield int(text)
