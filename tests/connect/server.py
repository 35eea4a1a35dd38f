"""A PostgreSQL server of the tests' own, in a folder that goes with them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

_FOLDERS = ("/usr/lib/postgresql", "/usr/local/lib/postgresql")
_OWNER = "postgres"


def missing() -> str:
    """Say what this machine lacks to run a server; empty where it lacks nothing."""
    try:
        import psycopg  # noqa: F401, PLC0415
    except ImportError:
        return "no psycopg"
    return "" if _program("initdb") and _program("postgres") else "no PostgreSQL server"


@contextmanager
def postgres() -> Iterator[str]:
    """Start a server on a free port of this machine, and give its address."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-postgres-"))
    how: dict[str, Any] = {"cwd": folder}
    if os.geteuid() == 0:
        # PostgreSQL does not run as root.
        shutil.chown(folder, _OWNER, _OWNER)
        how.update(user=_OWNER, group=_OWNER, extra_groups=[])
    run = partial(subprocess.run, check=True, capture_output=True, **how)
    try:
        run([_program("initdb"), "-D", "data", "-A", "trust", "-U", _OWNER, "--no-sync"])
        port = _free_port()
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder}"
        control = [_program("pg_ctl"), "-D", "data", "-w"]
        run([*control, "-l", "log", "-o", f"{options} -F", "start"])
        try:
            yield f"postgresql://{_OWNER}@127.0.0.1:{port}/postgres"
        finally:
            run([*control, "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found:
        return found
    versions = [path for folder in _FOLDERS for path in Path(folder).glob(f"*/bin/{name}")]
    return str(max(versions, key=lambda path: path.parts)) if versions else ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
