"""A broker that asks who is there: a password (SASL), also over TLS, and who may do what (ACLs).

Who comes by `plain` is anybody and may do everything: it is for the test itself. Who comes by
`sasl` or `tls` is `USER`, who may do nothing unless the test allows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.broker.plan import HOST, free_ports
from tests.kafka.cluster import Brokers, brokers_of_ones_own
from tests.serve.certificates import Made, make

USER, PASSWORD = "ann", "a-word-of-hers"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@dataclass(frozen=True, slots=True)
class Guarded:
    """A guarded broker that is up."""

    brokers: Brokers
    sasl: str
    """Its address for those with a password."""
    tls: str
    """Its address for those with a password, over TLS."""
    certificate: Path
    """Who trusts this file trusts the broker."""

    @property
    def plain(self) -> str:
        """Its address for the test itself."""
        return self.brokers.address

    def client(self, *, tls: bool, password: str = PASSWORD) -> dict[str, Any]:
        """Give the settings by which librdkafka gets in."""
        settings = {
            "bootstrap.servers": self.tls if tls else self.sasl,
            "security.protocol": "SASL_SSL" if tls else "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": USER,
            "sasl.password": password,
        }
        return {**settings, "ssl.ca.location": str(self.certificate)} if tls else settings


@contextmanager
def guarded_broker(folder: Path) -> Iterator[Guarded]:
    """Start a guarded broker in a folder, and stop it afterwards."""
    folder.mkdir(exist_ok=True)
    made = make(folder / "certificate")
    plain, controller, sasl, tls = free_ports(4)
    settings = _settings(made, plain, controller, {"SASL": sasl, "TLS": tls})
    ports = {"id": 1, "port": plain, "controller_port": controller}
    with brokers_of_ones_own(folder / "kafka", 1, settings, ports=ports) as brokers:
        yield Guarded(brokers, f"{HOST}:{sasl}", f"{HOST}:{tls}", made.certificate)


def _settings(made: Made, plain: int, controller: int, guarded: dict[str, int]) -> dict[str, str]:
    clients = {"PLAINTEXT": plain, **guarded}
    ends = ",".join(f"{name}://{HOST}:{port}" for name, port in clients.items())
    login = {
        f"listener.name.{name.lower()}.plain.sasl.jaas.config": (
            f'{_LOGIN} user_{USER}="{PASSWORD}";'
        )
        for name in guarded
    }
    kinds = "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT,TLS:SASL_SSL"
    return {
        "listeners": f"{ends},CONTROLLER://{HOST}:{controller}",
        "advertised.listeners": ends,
        "listener.security.protocol.map": kinds,
        "sasl.enabled.mechanisms": "PLAIN",
        **login,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.certificate.chain": _one_line(made.certificate),
        "ssl.keystore.key": _one_line(made.key),
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
    }


def _one_line(file: Path) -> str:
    return file.read_text().strip().replace("\n", "\\n")
