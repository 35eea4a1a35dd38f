"""Kafka's own command-line tools, run by their classes; kcat, where the machine has it."""

from __future__ import annotations

import shutil
import subprocess

from penstock.spark.java import require_java
from tests.kafka.cluster import Brokers, jars

TOPICS = "TopicCommand"
PRODUCER = "ConsoleProducer"
CONSUMER = "consumer.ConsoleConsumer"
GROUPS = "consumer.group.ConsumerGroupCommand"
REASSIGN = "reassign.ReassignPartitionsCommand"
_OPTIONS = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m")


def tool(brokers: Brokers, name: str, *words: str, stdin: str = "") -> str:
    """Run a tool of Kafka on brokers, and give what it printed."""
    server = ("--bootstrap-server", brokers.address)
    program = ("-cp", f"{jars()}/*", f"org.apache.kafka.tools.{name}")
    return run_java(*program, *server, *words, stdin=stdin)


def run_java(*words: str, stdin: str = "") -> str:
    """Run Java, and give what the program printed."""
    return _run(str(require_java(need="Kafka").path), *_OPTIONS, *words, stdin=stdin)


def kcat(brokers: Brokers, *words: str, stdin: str = "") -> str:
    """Run kcat on brokers, and give what it printed."""
    return _run("kcat", "-b", brokers.address, *words, stdin=stdin)


def kcat_missing() -> str:
    """Say that there is no kcat; empty where there is."""
    return "" if shutil.which("kcat") else "no kcat"


def _run(*command: str, stdin: str) -> str:
    done = subprocess.run(
        command, capture_output=True, check=False, input=stdin, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
