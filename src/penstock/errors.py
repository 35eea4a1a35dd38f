"""Every error a user can meet, as one tree.

PenstockError
├── ConfigError        a setting is missing, misspelt or of the wrong kind
├── SetupError         the machine lacks something: Java, memory, a package, write access
├── SchemaError        rows or columns do not fit the schema of a topic
│   └── RegistryError      a registry: unknown or refused schema, out of reach
├── ModelError         a program that contradicts itself: window, trigger, relation
├── PlanError          a program that cannot be run as it is written
├── SqlError           a SQL text that cannot be read, or names what is not there
├── StateError         the stored state of an operator cannot be used
├── LogError           the log itself
│   ├── TopicError         a topic or partition: name, existence, settings
│   ├── RecordError        a record that cannot be stored
│   ├── OffsetError        a position outside the log
│   ├── CorruptionError    bytes on disk that are not what was written
│   ├── StorageError       the disk refused: full, read-only, input/output error
│   ├── TransactionError   a transaction fenced, undecided or misused
│   └── GroupError         a consumer group: membership, generation, commit
├── ChannelError       a direct channel: nobody listens, connection lost
├── DeliveryError      a message that a webhook or a mail server did not take
├── StoreError         a database beside the log: out of reach, or other columns
├── RunError           a Spark query that stopped
├── JobError           the record of a job, or a wish it cannot be given
├── RequestError       a request that a server does not answer: who asks, how much, how often
└── UsageError         a command line or a call that contradicts itself
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from typing_extensions import override


class PenstockError(Exception):
    """A failure with a stable code, a fact and a hint to act on."""

    def __init__(self, code: str, fact: str, *, hint: str = "") -> None:
        super().__init__(code, fact, hint)
        self.code = code
        self.fact = fact
        self.hint = hint

    @override
    def __str__(self) -> str:
        """Show code and fact on one line and the hint below."""
        first = f"[{self.code}] {self.fact}"
        return f"{first}\n{self.hint}" if self.hint else first

    @override
    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling, since errors cross from Spark's Python workers."""
        return _rebuild, (type(self), self.code, self.fact, self.hint)


class ConfigError(PenstockError):
    """A setting is missing, misspelt or of the wrong kind."""


class SetupError(PenstockError):
    """The machine lacks something the command needs."""


class SchemaError(PenstockError):
    """Rows or columns do not fit a schema."""


class RegistryError(SchemaError):
    """A registry does not have a schema, does not take it, or cannot be reached."""


class ModelError(PenstockError):
    """A program contradicts itself."""


class PlanError(PenstockError):
    """A program cannot be run as it is written."""


class SqlError(PenstockError):
    """A SQL text cannot be read, or means something that is not there."""


class StateError(PenstockError):
    """The stored state of an operator cannot be used."""


class LogError(PenstockError):
    """The log refused."""


class TopicError(LogError):
    """A topic or partition cannot be used as asked."""


class RecordError(LogError):
    """A record cannot be stored."""


class OffsetError(LogError):
    """A position lies outside the log."""


class CorruptionError(LogError):
    """Bytes on disk are not what was written."""


class StorageError(LogError):
    """The storage refused a read or a write."""


class TransactionError(LogError):
    """A transaction was fenced, is undecided or is misused."""


class GroupError(LogError):
    """A consumer group refused."""


class ChannelError(PenstockError):
    """A direct channel cannot deliver."""


class DeliveryError(PenstockError):
    """A webhook or a mail server did not take a message."""


class StoreError(PenstockError):
    """A database beside the log refused."""


class RunError(PenstockError):
    """A Spark query stopped."""


class JobError(PenstockError):
    """The record of a job cannot be used, or the job cannot do what is asked."""


class RequestError(PenstockError):
    """A server does not answer a request."""


class UsageError(PenstockError):
    """A command line or a call contradicts itself."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Suggest the known name nearest to a misspelt one, or nothing."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f'Did you mean "{close[0]}"?' if close else ""


def _rebuild(kind: type[PenstockError], code: str, fact: str, hint: str) -> PenstockError:
    return kind(code, fact, hint=hint)
