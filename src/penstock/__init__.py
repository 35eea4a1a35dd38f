"""Penstock: a durable log, and stream processing on it with Spark.

Names are loaded when first used, so that `import penstock` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.errors import PenstockError
    from penstock.log.consumer import Consumer
    from penstock.log.open import open_log
    from penstock.log.producer import Producer
    from penstock.log.record import Record, TopicPartition
    from penstock.log.topic import Topic, TopicConfig

__version__ = "0.1.0"

__all__ = [
    "Consumer",
    "PenstockError",
    "Producer",
    "Record",
    "Topic",
    "TopicConfig",
    "TopicPartition",
    "__version__",
    "open_log",
]

_HOMES = {
    "Consumer": "penstock.log.consumer",
    "PenstockError": "penstock.errors",
    "Producer": "penstock.log.producer",
    "Record": "penstock.log.record",
    "Topic": "penstock.log.topic",
    "TopicConfig": "penstock.log.topic",
    "TopicPartition": "penstock.log.record",
    "open_log": "penstock.log.open",
}


if not TYPE_CHECKING:
    # Hidden from type checkers, which would take any name for a public one.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
