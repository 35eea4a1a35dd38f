"""Opening a log by its address: a directory, a server that offers one, or a Kafka cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast, overload

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.config import load_settings
from penstock.log.embedded.home import home_directory, open_home
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.kafka.home import kafka_of, require_client
from penstock.log.kafka.properties import SCHEME, KafkaPlace, kafka_place

if TYPE_CHECKING:
    from penstock.log.kafka.log import KafkaLog
    from penstock.log.remote.client import RemoteLog

_SOCKET = "tcp://"
_WEB = ("http://", "https://")


@overload
def open_log(home: Path, *, clock: Clock = SYSTEM_CLOCK) -> EmbeddedLog: ...


@overload
def open_log(
    home: str | None = None, *, clock: Clock = SYSTEM_CLOCK
) -> EmbeddedLog | RemoteLog: ...


def open_log(
    home: Path | str | None = None, *, clock: Clock = SYSTEM_CLOCK
) -> EmbeddedLog | RemoteLog:
    """Open the log of a home directory, making it where there is none.

    `http://HOST:PORT` or `https://...` is the log of a server (`penstock serve`), asked with the
    token of `PENSTOCK_TOKEN` or of the settings; `tcp://127.0.0.1:PORT` is the one that
    `penstock log serve` offers on this machine; `kafka://HOST:PORT` is a cluster of Apache Kafka.
    Without a home it is the setting `log`, else `PENSTOCK_HOME`, by default `.penstock` in the
    working directory. A home whose log is Kafka opens that.
    """
    place = load_settings().log or None if home is None else home
    if isinstance(place, str) and place.startswith(SCHEME):
        return cast("EmbeddedLog", _kafka(kafka_place(place, load_settings().kafka), clock))
    if isinstance(place, str) and place.startswith(_WEB):
        from penstock.log.remote.web_log import served_log  # noqa: PLC0415  # few need WebSockets

        return served_log(place)
    if isinstance(place, str) and place.startswith(_SOCKET):
        from penstock.log.remote.client import RemoteLog  # noqa: PLC0415  # few need sockets

        return RemoteLog(place)
    directory = home_directory(place)
    elsewhere = kafka_of(directory)
    if elsewhere is not None:
        # It has all that programs ask, and refuses what only files can answer.
        return cast("EmbeddedLog", _kafka(elsewhere, clock))
    return open_home(directory, clock=clock)


def _kafka(place: KafkaPlace, clock: Clock) -> KafkaLog:
    require_client()
    from penstock.log.kafka.log import KafkaLog  # noqa: PLC0415  # few need Kafka's library

    return KafkaLog(place, clock=clock)
