"""What real-time mode needs: where Kafka answers, and the jars of Spark's own connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from penstock.config import Settings
from penstock.errors import ConfigError, SetupError, did_you_mean

_NAMES = ("jars", "kafka", "packages", "servers")
_CONNECTOR = "spark-sql-kafka-0-10_2.13"
JARS = (_CONNECTOR, "spark-token-provider-kafka-0-10_2.13", "kafka-clients", "commons-pool2")
"""What the connector is made of, by the names that its files begin with."""
_KAFKA_LOG = "kafka://"
# Rows on their way to an operator with state are held back until there are many, or so long: with
# Spark's own value the median of a window's result was 33 ms, with this one 4 (bench/realtime.py).
_AT_ONCE = {"spark.shuffle.streaming.networkBufferMaxWaitTimeMs": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RealtimeSettings:
    """The jars from a folder, or fetched by Spark as `packages`; servers, and words for clients."""

    jars: Path | None = None
    packages: str = ""
    servers: str = ""
    kafka: Mapping[str, str] = field(default_factory=dict)


def realtime_of(settings: Settings) -> RealtimeSettings:
    """Give what the table `[realtime]` says; what does not exist is refused."""
    said = settings.realtime
    for name, value in said.items():
        if name not in _NAMES:
            raise ConfigError(
                "CONFIG_KEY",
                f'setting "realtime.{name}" does not exist',
                hint=did_you_mean(name, _NAMES) or f"Settings: {', '.join(_NAMES)}.",
            )
        if not isinstance(value, Mapping if name == "kafka" else str):
            raise ConfigError(
                "CONFIG_VALUE",
                f'setting "realtime.{name}" is not what it should be: {value!r}',
                hint="Give a text; realtime.kafka is a table.",
            )
    log = settings.log.removeprefix(_KAFKA_LOG) if settings.log.startswith(_KAFKA_LOG) else ""
    kafka = said.get("kafka", {})
    assert isinstance(kafka, Mapping)
    return RealtimeSettings(
        jars=Path(str(said["jars"])) if "jars" in said else None,
        packages=str(said.get("packages", "")),
        servers=str(said.get("servers", "")) or log,
        kafka=dict(_flat(kafka)),
    )


def jar_settings(found: RealtimeSettings) -> dict[str, str]:
    """Give the settings by which a session has the connector; nothing where none is asked for."""
    if found.jars is not None:
        require_jars(found.jars)
        files = sorted(str(path) for path in found.jars.glob("*.jar"))
        return {"spark.jars": ",".join(files), **_AT_ONCE}
    if found.packages:
        named = found.packages
        known = f"org.apache.spark:{_CONNECTOR}:{version('pyspark')}"
        return {"spark.jars.packages": known if named == "spark" else named, **_AT_ONCE}
    return {}


def missing_jars(folder: Path) -> list[str]:
    """Give which parts of the connector a folder lacks."""
    names = [path.name for path in folder.glob("*.jar")]
    return [part for part in JARS if not any(name.startswith(f"{part}-") for name in names)]


def require_jars(folder: Path) -> None:
    """Refuse a folder that lacks a part of the connector."""
    missing = missing_jars(folder)
    if missing:
        raise SetupError(
            "REALTIME_JARS",
            f'"{folder}" lacks parts of Spark\'s Kafka connector: {", ".join(missing)}',
            hint="Put their jars there, of versions that go together: docs/deploy.md names some.",
        )


def require_servers(found: RealtimeSettings) -> str:
    """Give where Kafka answers."""
    if not found.servers:
        raise SetupError(
            "REALTIME_SERVERS",
            "real-time mode reads and writes Kafka, and no address of it is known",
            hint='Say log = "kafka://HOST:9092", or servers = "HOST:9092" in [realtime].',
        )
    return found.servers


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", str(value)
