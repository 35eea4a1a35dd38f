"""Compatibility levels: which of the versions before a new schema must get on with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from penstock.errors import RegistryError, did_you_mean
from penstock.schema.codec.schemas import SchemaType
from penstock.schema.language import Language, SchemaSource

Level: TypeAlias = Literal[
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
]
LEVELS: tuple[Level, ...] = get_args(Level)
DEFAULT_LEVEL: Level = "BACKWARD"


@dataclass(frozen=True, slots=True)
class Earlier:
    """A version that a new schema is compared with."""

    version: int
    type: SchemaType
    source: SchemaSource


def level_named(name: object) -> Level:
    """Give the level of a name, in any case of letters."""
    for level in LEVELS:
        if isinstance(name, str) and name.upper() == level:
            return level
    raise RegistryError(
        "LEVEL_NAME",
        f"compatibility level {name!r} does not exist",
        hint=did_you_mean(str(name).upper(), LEVELS) or f"Levels: {', '.join(LEVELS)}.",
    )


def objections(
    level: Level, language: Language, new: SchemaSource, earlier: Sequence[Earlier]
) -> tuple[str, ...]:
    """Say what speaks against a new schema after earlier versions (oldest first); () if nothing.

    The first version that objects, from the last one back, speaks for all.
    """
    if level == "NONE" or not earlier:
        return ()
    compared = earlier[::-1] if level.endswith("_TRANSITIVE") else earlier[-1:]
    for old in compared:
        found = _against(level, language, new, old)
        if found:
            return (
                *found,
                f"{{oldSchemaVersion: {old.version}}}",
                f"{{oldSchema: '{old.source.text}'}}",
                f"{{compatibility: '{level}'}}",
            )
    return ()


def _against(level: Level, language: Language, new: SchemaSource, old: Earlier) -> tuple[str, ...]:
    if old.type != language.type:
        return (f"the new schema is {language.type}, and version {old.version} is {old.type}",)
    found: tuple[str, ...] = ()
    if level.startswith(("BACKWARD", "FULL")):
        found += language.incompatibilities(new, old.source)
    if level.startswith(("FORWARD", "FULL")):
        found += language.incompatibilities(old.source, new)
    return tuple(dict.fromkeys(found))
