"""A standalone cluster of processes for tests: a master, and workers that can be killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_paths

import pyspark

from penstock.spark.java import require_java

_HOME = Path(pyspark.__file__).parent
# As Spark's own scripts have it.
_ENVIRONMENT = {
    "SPARK_HOME": str(_HOME),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_SCALA_VERSION": "2.13",
}
_JAVA = (
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    *(
        f"--add-opens=java.base/{part}=ALL-UNNAMED"
        for part in ("java.lang", "java.nio", "java.util", "sun.nio.ch")
    ),
)
_PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class Standalone:
    """A cluster that runs: its address, and its workers, each the head of a group of processes."""

    address: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill_worker(self, number: int) -> None:
        """End a worker with its executors and their Python, as when its machine is gone."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)


@contextmanager
def standalone(folder: Path, *, workers: int = 2) -> Iterator[Standalone]:
    """Start a cluster, and end it."""
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    with contextlib.ExitStack() as stack:
        common = ("--host", "127.0.0.1", "--webui-port", "0")
        stack.enter_context(_started(folder, "master", *common, "--port", str(port)))
        own = ("--cores", "1", "--memory", "600m", "--port", "0")
        found = tuple(
            stack.enter_context(
                _started(
                    folder,
                    f"worker-{n}",
                    *common,
                    *own,
                    "--work-dir",
                    str(folder / f"{n}"),
                    address,
                )
            )
            for n in range(workers)
        )
        for number in range(workers):
            _await_words(folder / f"worker-{number}.txt", "Successfully registered with master")
        yield Standalone(address, found)


@contextmanager
def _started(folder: Path, name: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    kind = name.partition("-")[0]
    main = f"org.apache.spark.deploy.{kind}.{kind.title()}"
    command = [str(require_java().path), *_JAVA, "-cp", f"{_HOME}/jars/*", main, *arguments]
    with (folder / f"{name}.txt").open("wb") as words:
        process = subprocess.Popen(
            command,
            env={**os.environ, **_ENVIRONMENT},
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def bare_python(folder: Path) -> Path:
    """Make a Python that has what Penstock depends on, and not Penstock."""
    venv.create(folder, with_pip=False, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    place = folder / "lib" / version / "site-packages" / "dependencies.pth"
    # A folder named by such a file is searched; such files in it, as ours is, are not looked at.
    place.write_text(get_paths()["purelib"] + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def free_port() -> int:
    """Give a port that nobody listens at."""
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])


def _await_words(file: Path, words: str) -> None:
    until = time.monotonic() + _PATIENCE
    while words not in file.read_text(errors="replace"):
        assert time.monotonic() < until, file.read_text(errors="replace")[-2000:]
        time.sleep(0.05)
