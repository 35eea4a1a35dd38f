"""What a process remembers for each key, as the user declares it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeVar, cast, overload

from penstock.errors import ModelError
from penstock.front.dsl.place import placed
from penstock.front.dsl.watermarks import maybe
from penstock.model.duration import Duration
from penstock.model.process import StateField
from penstock.model.processor import ListState, MapState, ValueState
from penstock.schema.annotation import type_of
from penstock.schema.types import Type

Value = TypeVar("Value")
Name = TypeVar("Name")
_UNNAMED = "unnamed"


@dataclass(frozen=True, slots=True)
class Declared:
    """A state that stands in the body of a class; it is there to use while a program runs."""

    field: StateField

    def named(self, name: str) -> StateField:
        """Give the state under the name of its attribute."""
        return replace(self.field, name=name)

    def __get__(self, instance: object, owner: type) -> Declared:
        if instance is not None:
            _not_running(type(instance).__name__)
        return self


@overload
def value_state(
    kind: type[Value], *, default: Value, ttl: Duration | None = None, was: str | None = None
) -> ValueState[Value]: ...


@overload
def value_state(
    kind: type[Value], *, ttl: Duration | None = None, was: str | None = None
) -> ValueState[Value | None]: ...


@overload
def value_state(
    kind: str | Type, *, default: object = None, ttl: Duration | None = None, was: str | None = None
) -> ValueState[Any]: ...


@placed
def value_state(
    kind: object, *, default: object = None, ttl: Duration | None = None, was: str | None = None
) -> Any:
    """Remember one value a key: `self.seen.value += 1`.

    With `ttl` it is forgotten so long, by event time, after it was last written. `was` is the
    name it had before, in states that are stored.
    """
    field = StateField(
        _UNNAMED, "value", type_of(kind), None, maybe(ttl), was, default, python=kind
    )
    return Declared(field)


@overload
def list_state(
    item: type[Value], *, ttl: Duration | None = None, was: str | None = None
) -> ListState[Value]: ...


@overload
def list_state(
    item: str | Type, *, ttl: Duration | None = None, was: str | None = None
) -> ListState[Any]: ...


@placed
def list_state(item: object, *, ttl: Duration | None = None, was: str | None = None) -> Any:
    """Remember a list a key: `self.last.append(row["n"])`; see `value_state`."""
    return Declared(StateField(_UNNAMED, "list", type_of(item), None, maybe(ttl), was, python=item))


@overload
def map_state(
    key: type[Name], value: type[Value], *, ttl: Duration | None = None, was: str | None = None
) -> MapState[Name, Value]: ...


@overload
def map_state(
    key: type[Any] | str | Type,
    value: type[Any] | str | Type,
    *,
    ttl: Duration | None = None,
    was: str | None = None,
) -> MapState[Any, Any]: ...


@placed
def map_state(
    key: object, value: object, *, ttl: Duration | None = None, was: str | None = None
) -> Any:
    """Remember a map a key: `self.by_page[row["page"]] = row["n"]`; see `value_state`."""
    field = StateField(_UNNAMED, "map", type_of(value), type_of(key), maybe(ttl), was, python=value)
    return Declared(field)


def state_fields(given: dict[str, object]) -> tuple[StateField, ...]:
    """Read states by their names: declared ones, or the type of a value."""
    return tuple(
        item.named(name) if isinstance(item, Declared) else _value(item).named(name)
        for name, item in given.items()
    )


def _value(kind: object) -> Declared:
    return cast(Declared, value_state(cast(Any, kind)))


def _not_running(owner: str) -> NoReturn:
    raise ModelError(
        "STATE_UNBOUND",
        f"a state of {owner} is used while no program runs",
        hint="It belongs to a key: use it in process and on_timer; try them with a TestDriver.",
    )
