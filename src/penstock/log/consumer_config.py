"""The settings of a consumer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, TypeAlias, TypedDict

from penstock.errors import UsageError, did_you_mean
from penstock.log.port import Assignor, Isolation
from penstock.log.position import OutOfRange, Start
from penstock.log.record import TopicPartition

PartitionsCallback: TypeAlias = Callable[[frozenset[TopicPartition]], None]


class ConsumerSettings(TypedDict, total=False):
    """What `Consumer` takes as keywords; `ConsumerConfig` says what each means."""

    start: Start
    out_of_range: OutOfRange
    isolation: Isolation
    assignor: Assignor
    max_poll_records: int
    fetch_bytes: int
    auto_commit: timedelta | None
    session_timeout: timedelta
    max_poll_interval: timedelta
    client: str
    instance_id: str | None
    on_assign: PartitionsCallback | None
    on_revoke: PartitionsCallback | None
    on_lost: PartitionsCallback | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerConfig:
    """The settings of a consumer; the defaults read everything, at least once.

    `start` is where to begin where the group has committed nothing, or without a group.
    `out_of_range` is what to do when retention has removed the next record.
    `auto_commit` is how often a group's positions are stored; None leaves it to `commit`.
    A member silent for `session_timeout`, or that does not poll for `max_poll_interval`,
    loses its partitions. `instance_id` names a member that may restart within its session
    timeout and find its partitions again.
    """

    start: Start = "earliest"
    out_of_range: OutOfRange = "earliest"
    isolation: Isolation = "committed"
    assignor: Assignor = "range"
    max_poll_records: int = 500
    fetch_bytes: int = 1024 * 1024
    auto_commit: timedelta | None = timedelta(seconds=5)
    session_timeout: timedelta = timedelta(seconds=10)
    max_poll_interval: timedelta = timedelta(minutes=5)
    client: str = ""
    instance_id: str | None = None
    on_assign: PartitionsCallback | None = None
    on_revoke: PartitionsCallback | None = None
    on_lost: PartitionsCallback | None = None

    def __post_init__(self) -> None:
        for name in ("max_poll_records", "fetch_bytes"):
            if getattr(self, name) < 1:
                raise _refused(name, getattr(self, name), "Give a number above 0.")
        for name in ("session_timeout", "max_poll_interval"):
            if getattr(self, name) < timedelta(milliseconds=100):
                raise _refused(name, getattr(self, name), "Give at least 0.1 seconds.")
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if isinstance(value, str) and value not in known:
                hint = did_you_mean(value, known) or f"Choose one of: {', '.join(known)}."
                raise _refused(name, value, hint)


_CHOICES = {
    "start": ("earliest", "latest"),
    "out_of_range": ("earliest", "latest", "error"),
    "isolation": ("committed", "uncommitted"),
}


def consumer_config(settings: ConsumerSettings) -> ConsumerConfig:
    """Check settings; a misspelt one is named and corrected."""
    known = [item.name for item in fields(ConsumerConfig)]
    for name in settings:
        if name not in known:
            raise UsageError(
                "CONSUMER_SETTING",
                f'consumer setting "{name}" does not exist',
                hint=did_you_mean(name, known) or f"Settings: {', '.join(known)}.",
            )
    return ConsumerConfig(**settings)


def _refused(name: str, value: Any, hint: str) -> UsageError:  # noqa: ANN401 - any setting
    return UsageError(
        "CONSUMER_SETTING", f'consumer setting {name}="{value}" cannot be used', hint=hint
    )
