"""Objects of the user's own classes, and the plain values that columns hold."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import isclass
from typing import Any, TypeAlias

Builder: TypeAlias = Callable[[Any], Any]
"""Makes an object of a plain value."""


def builder_of(hint: object) -> Builder | None:
    """Give what makes objects of a hint; none where plain values are what it says.

    Dataclasses and named tuples are made, also inside of one another, of lists and of maps.
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        rest = [part for part in parts if part is not type(None)]
        return _or_none(builder_of(rest[0])) if len(rest) == 1 else None
    if origin is list and (item := builder_of(parts[0])) is not None:
        make = item
        return lambda values: [make(value) for value in values]
    if origin is dict and (item := builder_of(parts[1])) is not None:
        make = item
        return lambda values: {name: make(value) for name, value in values.items()}
    if isclass(hint) and (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return _class_builder(hint)
    return None


def plain(value: Any) -> Any:  # noqa: ANN401
    """Give an object as a plain value: a dictionary of what it holds."""
    if dataclasses.is_dataclass(value) and not isclass(value):
        names = [item.name for item in dataclasses.fields(value)]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(item) for item in value]
    return value


def defaults_of(hint: object) -> dict[str, Any]:
    """Give what fields of a class are where nobody says, as plain values, by their paths.

    The field b of the object in field a is `a.b`, also inside of lists and of maps.
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if parts and origin in (typing.Union, types.UnionType, list, dict):
        inner = [part for part in parts if part is not type(None)]
        return defaults_of(inner[-1])
    if not isclass(hint) or not (dataclasses.is_dataclass(hint) or hasattr(hint, "_fields")):
        return {}
    found = {name: plain(value) for name, value in _own_defaults(hint)}
    for name, part in typing.get_type_hints(hint).items():
        found |= {f"{name}.{below}": value for below, value in defaults_of(part).items()}
    return found


def _own_defaults(kind: type) -> Iterator[tuple[str, Any]]:
    if not dataclasses.is_dataclass(kind):
        yield from getattr(kind, "_field_defaults", {}).items()
        return
    for item in dataclasses.fields(kind):
        if item.default is not dataclasses.MISSING:
            yield item.name, item.default
        elif item.default_factory is not dataclasses.MISSING:
            yield item.name, item.default_factory()


def _class_builder(kind: type) -> Builder:
    hints = typing.get_type_hints(kind)
    found = {name: builder_of(hint) for name, hint in hints.items()}
    makers = {name: make for name, make in found.items() if make is not None}

    def built(value: Mapping[str, Any]) -> Any:  # noqa: ANN401
        parts = dict(value)
        for name, make in makers.items():
            if parts.get(name) is not None:
                parts[name] = make(parts[name])
        return kind(**parts)

    return built


def _or_none(make: Builder | None) -> Builder | None:
    return None if make is None else lambda value: None if value is None else make(value)
