"""Page views, through Spark, to a second topic, counted live: `make demo`.

`PENSTOCK_DEMO_SECONDS` (30) is how long page views are produced once Spark is up, and
`PENSTOCK_DEMO_RATE` (2000) how many a second. `flow.py` is the pipeline itself.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path


def main() -> int:
    """Run the demo; give the exit code."""
    # First of all, and an event instead of an exception: Ctrl-C at any moment ends it in peace.
    interrupted = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: interrupted.set())

    from examples.flow import Flow  # noqa: PLC0415  # its imports take half a second
    from examples.screen import conclude, shown  # noqa: PLC0415

    flow = Flow(
        home=Path(tempfile.mkdtemp(prefix="penstock-demo-")),
        seconds=float(os.environ.get("PENSTOCK_DEMO_SECONDS", "30")),
        rate=int(os.environ.get("PENSTOCK_DEMO_RATE", "2000")),
    )
    with shown(flow.counts, seconds=flow.seconds):
        flow.run(interrupted)
    return conclude(flow, interrupted=interrupted.is_set())


if __name__ == "__main__":
    sys.exit(main())
