"""A home whose log is Kafka: what the directory says about it.

Jobs, states and checkpoints stay in the directory. It remembers where its log is, so that every
process that is given the directory finds the same log, on executors of a cluster, too. Secrets are
not remembered: only where they are found.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from penstock.config import Settings, load_settings
from penstock.errors import ConfigError, SetupError
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.kafka.properties import SCHEME, KafkaPlace, kafka_place, told_openly

REMINDER = "kafka.json"


def kafka_of(home: Path) -> KafkaPlace | None:
    """Give the cluster that keeps the log of a home; None where the directory does."""
    settings = load_settings()
    if settings.log.startswith(SCHEME) and home.absolute() == settings.home.absolute():
        return bind_home(settings)
    told = _reminder(home)
    if told is None:
        return None
    return kafka_place(str(told["address"]), {**_table(told["properties"]), **settings.kafka})


def bind_home(settings: Settings) -> KafkaPlace | None:
    """Let the home of the settings remember the cluster that they name; None where they do not."""
    if not settings.log.startswith(SCHEME):
        return None
    place = kafka_place(settings.log, settings.kafka)
    told = {"address": place.address, "properties": told_openly(settings.kafka)}
    if _reminder(settings.home) != told:
        with coded_storage_errors(f'writing to the home "{settings.home}"'):
            settings.home.mkdir(parents=True, exist_ok=True)
            fresh = settings.home / f".{REMINDER}-{os.getpid()}"
            fresh.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
            fresh.replace(settings.home / REMINDER)
    return place


def is_elsewhere(home: Path) -> bool:
    """Whether a home says that a cluster keeps its log."""
    return (home / REMINDER).exists()


def require_client() -> None:
    """Refuse where Kafka's client is not installed."""
    if find_spec("confluent_kafka") is None:
        raise SetupError(
            "KAFKA_CLIENT_MISSING",
            "the log is Kafka, and confluent-kafka is not installed",
            hint='Install it: pip install "penstock[kafka]".',
        )


def _reminder(home: Path) -> Mapping[str, object] | None:
    try:
        told = json.loads((home / REMINDER).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        return None
    except (OSError, ValueError) as error:
        raise ConfigError(
            "KAFKA_SETTING",
            f'the file "{home / REMINDER}" cannot be read: {error}',
            hint="Set `log` and run a command of penstock, which writes it anew; or remove it.",
        ) from error
    return told if isinstance(told, dict) and {"address", "properties"} <= told.keys() else None


def _table(told: object) -> Mapping[str, object]:
    return told if isinstance(told, dict) else {}
