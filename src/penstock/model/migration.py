"""How a value of a state, stored in an earlier version, becomes one that is declared now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from penstock.errors import ModelError, StateError, did_you_mean
from penstock.schema.types import Kind, Type


@dataclass(frozen=True, slots=True)
class Renamed:
    """A field of a struct that has another name now; `a.b` is the field b of the field a.

    Fields of what is in lists and maps are named as if these were not there.
    """

    path: str
    to: str

    def __post_init__(self) -> None:
        if not all(self.path.split(".")) or not self.to or "." in self.to:
            raise ModelError(
                "STATE_FIELD",
                f'a field "{self.path}" is to be renamed to "{self.to}"',
                hint='Give the path it had and its new name: renamed("address.zip", "postcode").',
            )


Migration: TypeAlias = Renamed | Callable[[Any], Any]
"""A renamed field, or a function of the user's: the value of before to the new one."""


def renamed_type(type_: Type, step: Renamed) -> Type:
    """Give a type with a field renamed; a field that is not there is refused."""
    return _type(type_, step.path.split("."), step)


def renamed_value(value: Any, step: Renamed) -> Any:  # noqa: ANN401
    """Give a value with a field renamed; one that does not have it is left as it is."""
    return _value(value, step.path.split("."), step.to)


def _type(type_: Type, path: list[str], step: Renamed) -> Type:
    if type_.kind in (Kind.ARRAY, Kind.MAP) and type_.item is not None:
        return replace(type_, item=_type(type_.item, path, step))
    name, *rest = path
    known = dict(type_.fields)
    if name not in known or (not rest and step.to in known):
        why = f'there is no "{name}"' if name not in known else f'there is a "{step.to}" already'
        raise StateError(
            "STATE_MIGRATION",
            f'a migration renames field "{step.path}" to "{step.to}", and {why} in {type_}',
            hint=did_you_mean(name, known) or "Name the field as the stored state has it.",
        )
    fields = (
        (field, kind)
        if field != name
        else (name, _type(kind, rest, step))
        if rest
        else (step.to, kind)
        for field, kind in type_.fields
    )
    return replace(type_, fields=tuple(fields))


def _value(value: Any, path: list[str], to: str) -> Any:  # noqa: ANN401
    if isinstance(value, list):
        return [_value(item, path, to) for item in value]
    if not isinstance(value, Mapping):
        return value
    name, *rest = path
    if name not in value:
        # The values of a map, or a struct that never had the field.
        return {key: _value(item, path, to) for key, item in value.items()}
    if rest:
        return {**value, name: _value(value[name], rest, to)}
    return {to if key == name else key: item for key, item in value.items()}
