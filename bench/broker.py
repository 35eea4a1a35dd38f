"""A broker of Apache Kafka for as long as a bench runs, and a home whose log it keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.log.kafka.home import REMINDER


@contextmanager
def broker(home: Path) -> Iterator[str]:
    """Start a broker of its own below a home; give its address, host and port."""
    command = [sys.executable, "-m", "penstock", "--home", str(home), "kafka"]
    subprocess.run([*command, "up"], check=True, stdout=subprocess.DEVNULL)
    try:
        said = subprocess.run([*command, "status", "--json"], check=True, stdout=subprocess.PIPE)
        yield str(json.loads(said.stdout)["address"])
    finally:
        subprocess.run([*command, "down"], check=False, stdout=subprocess.DEVNULL)


def home_on_kafka(folder: Path, servers: str) -> Path:
    """Make a home whose log is kept by brokers."""
    folder.mkdir(parents=True)
    told = {"address": f"kafka://{servers}", "properties": {}}
    (folder / REMINDER).write_text(json.dumps(told), encoding="utf-8")
    return folder
