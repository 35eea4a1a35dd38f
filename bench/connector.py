"""The jars of Spark's Kafka connector that go with Spark 4.3, fetched once; pinned."""

from __future__ import annotations

import sys
from pathlib import Path

from penstock.broker.fetch import fetch_pinned
from penstock.broker.jars import Jar, jars_folder
from penstock.config import load_settings
from penstock.errors import SetupError

_PATIENCE = 180.0
# The connector of 4.3 is not everywhere yet; this one ran there.
JARS = (
    Jar(
        "org.apache.spark",
        "spark-sql-kafka-0-10_2.13",
        "4.2.0",
        "64539c45e5d39f7ddb747312c239f38f5208d08c1a0ddf7d70beb2fbd9373705",
    ),
    Jar(
        "org.apache.spark",
        "spark-token-provider-kafka-0-10_2.13",
        "4.1.0-preview1",
        "ab6e27a8a47ce63348dd0ecbd5543dc6212b4783180305cde5749e79684ea97b",
    ),
    Jar(
        "org.apache.kafka",
        "kafka-clients",
        "3.9.2",
        "014b4ef36884478a932641818b080c36a8f8e2e92dc771e800c9d2694f4f83d8",
    ),
    Jar(
        "org.apache.commons",
        "commons-pool2",
        "2.13.1",
        "f77a5060d6936a9144023584232f9de3f2248f1abfe156e9d31795f18770674f",
    ),
)


def connector_jars() -> tuple[Path, str]:
    """Give the folder of the jars, or why there is none."""
    folder = jars_folder(load_settings()).parent / "spark-kafka-4.2.0"
    what = "Spark's Kafka connector"
    try:
        fetch_pinned(folder, jars=JARS, what=what, tell=_say, patience=_PATIENCE)
    except SetupError as error:
        return folder, f"no jars of {what}: {error.fact}"
    return folder, ""


def _say(words: str) -> None:
    sys.stderr.write(f"{words}\n")
