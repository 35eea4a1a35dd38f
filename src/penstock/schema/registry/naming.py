"""Naming strategies: under which subject the schema of a record is registered."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from penstock.errors import RegistryError, did_you_mean

NamingStrategy: TypeAlias = Literal["topic", "record", "topic-record"]
RecordPart: TypeAlias = Literal["key", "value"]

STRATEGIES: tuple[NamingStrategy, ...] = get_args(NamingStrategy)


def subject_name(
    strategy: NamingStrategy, topic: str, *, record: str = "", part: RecordPart = "value"
) -> str:
    """Give the subject of a topic's keys or values; `record` is the schema's full name."""
    if strategy == "topic":
        return f"{topic}-{part}"
    if not record:
        raise RegistryError(
            "SUBJECT_RECORD",
            f'naming strategy "{strategy}" needs the name of a record, and the schema has none',
            hint='Use a schema with a name, or the naming strategy "topic".',
        )
    return record if strategy == "record" else f"{topic}-{record}"


def strategy_named(name: str) -> NamingStrategy:
    """Give the strategy of a name."""
    for strategy in STRATEGIES:
        if name == strategy:
            return strategy
    raise RegistryError(
        "NAMING_STRATEGY",
        f'naming strategy "{name}" does not exist',
        hint=did_you_mean(name, STRATEGIES) or f"Strategies: {', '.join(STRATEGIES)}.",
    )


def guard_setting(strategy: NamingStrategy = "topic") -> str:
    """Give a topic's setting `guard` by which only values of registered schemas enter it."""
    # Its name, not itself: it needs Arrow, and who only names it should not wait for that.
    return f"penstock.schema.registry.guard:SubjectGuard({strategy})"
