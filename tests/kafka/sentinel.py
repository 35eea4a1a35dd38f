"""`python -m tests.kafka.sentinel FOLDER PID`: ends the brokers of a run that was killed itself."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import psutil

from tests.kafka.cluster import stop_brokers


def main(folder: Path, run: int) -> None:
    while folder.exists():
        if not psutil.pid_exists(run):
            stop_brokers(folder)
            return
        time.sleep(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
