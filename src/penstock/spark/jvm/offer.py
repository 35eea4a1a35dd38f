"""What the classes of ours are there for, offered as soon as they are."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkContext

from penstock.spark.jvm.classes import are_made, make_classes
from penstock.spark.jvm.collect import offer_packets
from penstock.spark.local_files import save_processes


def offer_classes(context: SparkContext, folder: Path, scratch: Path) -> None:
    """Use our classes in a session: at once where they are made, else when they have been."""

    def offer() -> None:
        # The session is over already, or its class path is another one: all goes on without them.
        with contextlib.suppress(Py4JError, OSError):
            if make_classes(context, folder):
                save_processes(context)
                offer_packets(context, scratch)

    if are_made(folder):
        offer()
    else:
        threading.Thread(target=offer, name="penstock-classes", daemon=True).start()
