"""Check of where the log is, where a cluster of Kafka keeps it."""

from __future__ import annotations

from penstock.config import Settings
from penstock.log.kafka.home import is_elsewhere
from penstock.log.kafka.properties import SCHEME


def check_log(settings: Settings) -> str:
    """Its brokers answer and let us in; that of a directory needs nobody."""
    if not settings.log.startswith(SCHEME) and not is_elsewhere(settings.home):
        return f"in the directory {settings.home}"
    from penstock.log.open import open_log  # noqa: PLC0415  # Arrow and Kafka's library: 0.2 s

    with open_log(settings.home) as log:
        return f"{settings.log or 'Kafka'} answers, {len(log.topics())} topics"
