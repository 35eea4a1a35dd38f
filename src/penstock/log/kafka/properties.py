"""How clients of Kafka are set up: the properties of librdkafka, with the secrets kept apart."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.config import KAFKA_VARIABLES
from penstock.errors import ConfigError

SCHEME = "kafka://"
REPLICATION = "replication.factor"
"""Our own setting among those of librdkafka: how many brokers keep each new topic."""

_OWN = {REPLICATION}
_FILE = "_file"
_ENVIRONMENT = "_env"
_SECRETS = ("password", "secret", "token", "sasl.username", ".pem", "jaas", "client.id.secret")
_DEFAULT_PORT = 9092
# What we set ourselves, since a promise of the log hangs on it.
_OURS = {
    "acks", "auto.offset.reset", "bootstrap.servers", "enable.auto.commit", "enable.idempotence",
    "enable.partition.eof", "group.id", "isolation.level", "transactional.id",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KafkaPlace:
    """A cluster and how to be let in; what is secret is never shown."""

    servers: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)
    replication: int = -1

    @property
    def address(self) -> str:
        """As configuration writes it; without properties, so without secrets."""
        return SCHEME + self.servers


def kafka_place(address: str, table: Mapping[str, object]) -> KafkaPlace:
    """Read an address and the section `kafka` of the settings; variables win over files.

    `NAME_file` names a file that holds the property NAME, `NAME_env` a variable that does.
    """
    found = dict(_flat(table))
    found.update(_variables())
    told = {name: _value(name, value) for name, value in _resolved(found).items()}
    for name in sorted(_OURS & told.keys()):
        raise ConfigError(
            "KAFKA_SETTING",
            f'setting "kafka.{name}" is not for you to choose: exactly-once hangs on it',
            hint="Leave it out; the servers are in the address of the log.",
        )
    replication = told.pop(REPLICATION, "-1")
    if not replication.lstrip("-").isdigit():
        raise ConfigError(
            "KAFKA_SETTING",
            f'setting "kafka.{REPLICATION}" is not a number: "{replication}"',
            hint="Give the number of brokers that are to keep each record.",
        )
    return KafkaPlace(_servers(address), told, int(replication))


def _servers(address: str) -> str:
    hosts = [host for host in address.removeprefix(SCHEME).rstrip("/").split(",") if host]
    named = [host if _has_port(host) else f"{host}:{_DEFAULT_PORT}" for host in hosts]
    ports = [host.rpartition(":")[2] for host in named]
    if (
        not hosts
        or any("/" in host or "@" in host for host in hosts)
        or not all(port.isdigit() for port in ports)
    ):
        raise ConfigError(
            "KAFKA_ADDRESS",
            "the address of a Kafka cluster is not a list of hosts and ports",
            hint="Write it as kafka://host:9092, or kafka://one:9092,two:9092; user and password"
            " belong in the section [kafka].",
        )
    return ",".join(named)


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


def _flat(table: Mapping[str, object], prefix: str = "") -> Mapping[str, object]:
    """Give the entries of nested tables by their dotted names."""
    found: dict[str, object] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{prefix}{name}."))
        else:
            found[f"{prefix}{name}"] = value
    return found


def _variables() -> dict[str, object]:
    """Give what variables set: PENSTOCK_KAFKA_SASL_PASSWORD is sasl.password."""
    return {
        name.removeprefix(KAFKA_VARIABLES).lower().replace("_", "."): value
        for name, value in os.environ.items()
        if name.startswith(KAFKA_VARIABLES) and value
    }


def _resolved(found: Mapping[str, object]) -> dict[str, object]:
    told: dict[str, object] = {}
    for name, value in found.items():
        if name.endswith(_FILE):
            told.setdefault(name.removesuffix(_FILE), _from_file(name, str(value)))
        elif name.endswith(_ENVIRONMENT):
            told.setdefault(name.removesuffix(_ENVIRONMENT), _from_variable(name, str(value)))
        else:
            told[name] = value
    return told


def _from_file(name: str, path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ConfigError(
            "KAFKA_SETTING",
            f'the file of setting "kafka.{name}" cannot be read: {reason}',
            hint="Name a file that holds nothing but the value, and that you may read.",
        ) from error


def _from_variable(name: str, variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise ConfigError(
            "KAFKA_SETTING",
            f'the variable "{variable}" of setting "kafka.{name}" is not set',
            hint="Set it where this process is started; on a cluster, for the executors, too.",
        )
    return value


def _value(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise ConfigError(
        "KAFKA_SETTING",
        f'setting "kafka.{name}" is neither a text, a number, nor true or false',
        hint="Write it as librdkafka's own configuration does.",
    )


def told_openly(table: Mapping[str, object]) -> dict[str, object]:
    """Give the properties that are no secrets, with the names of the files that hold those."""
    return {name: value for name, value in sorted(_flat(table).items()) if not is_secret(name)}


def is_secret(name: str) -> bool:
    """Whether a property's value is to be shown to nobody."""
    if name.endswith((_FILE, _ENVIRONMENT)):
        return False
    return any(word in name for word in _SECRETS)


def shown(table: Mapping[str, object]) -> dict[str, str]:
    """Give all properties; in the place of a secret stands that it is one."""
    return {
        name: "***" if is_secret(name) else str(value)
        for name, value in sorted(_flat(table).items())
    }
