"""Check of what real-time mode needs beside Spark."""

from __future__ import annotations

from penstock.config import Settings
from penstock.spark.realtime.settings import realtime_of, require_jars


def check_realtime(settings: Settings) -> str:
    """The jars of Spark's Kafka connector are there, or nobody has asked for them."""
    found = realtime_of(settings)
    if found.jars is not None:
        require_jars(found.jars)
        return f"jars in {found.jars}"
    if found.packages:
        return f"Spark fetches {found.packages} when a session starts"
    return "not asked for: [realtime] names no jars"
