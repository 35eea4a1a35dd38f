"""The page-view platform, live: `make demo`, or `make demo SECONDS=60 RATE=500 FRESH=1`.

The project is `examples/pageviews`; what it makes is kept in `.penstock-demo`, and the next start
goes on there. `docs/demo.md` tells what is to be seen.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import threading
from pathlib import Path

_PROJECT = Path(__file__).resolve().parent / "pageviews"


def main() -> int:
    """Run the demo; give the exit code."""
    # First of all, and an event instead of an exception: Ctrl-C at any moment ends it in peace.
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: interrupted.set())
    asked = _asked()
    print("Penstock demo: the log is opened, page views begin", flush=True)

    from penstock.errors import PenstockError  # noqa: PLC0415

    try:
        return _run(asked, interrupted)
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 1


def _run(asked: argparse.Namespace, interrupted: threading.Event) -> int:
    _enter(asked.project, fresh=asked.fresh)

    from examples.demo_numbers import Counting  # noqa: PLC0415  # half a second of imports
    from examples.demo_platform import Demo  # noqa: PLC0415
    from examples.demo_screen import conclude, greet, shown  # noqa: PLC0415

    demo = Demo(asked.project, rate=asked.rate, port=asked.port)
    with demo.running():
        greet(demo)
        counting = Counting(demo.home)
        with shown(demo, counting):
            demo.await_end(interrupted, asked.seconds)
    counting.look()
    counting.close()
    return conclude(demo, counting.numbers, interrupted=interrupted.is_set())


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long; 0: until Ctrl-C")
    parser.add_argument("--rate", type=int, default=100, help="page views a second")
    parser.add_argument("--port", type=int, default=8080, help="the first port to try")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier starts have made")
    parser.add_argument("--project", type=Path, default=_PROJECT, help="the project to run")
    return parser.parse_args()


def _enter(project: Path, *, fresh: bool) -> None:
    """Let all that runs here find the project's settings, whatever the shell's variables say."""
    from penstock.config import HOME, load_settings  # noqa: PLC0415

    home = load_settings(environment={}, directory=project).home
    if fresh:
        shutil.rmtree(home, ignore_errors=True)
    os.environ[HOME.variable] = str(home)
    os.chdir(project)


if __name__ == "__main__":
    sys.exit(main())
