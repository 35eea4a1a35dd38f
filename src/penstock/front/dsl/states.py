"""What a process remembers for each key, as the user declares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias, TypeVar, cast, overload

from penstock.errors import ModelError
from penstock.front.dsl.place import placed
from penstock.front.dsl.watermarks import maybe
from penstock.model.duration import Duration
from penstock.model.migration import Migration, Renamed
from penstock.model.process import StateField
from penstock.model.processor import ListState, MapState, ValueState
from penstock.schema.annotation import type_of
from penstock.schema.types import Type

Value = TypeVar("Value")
Name = TypeVar("Name")
Migrations: TypeAlias = Mapping[int, Migration | Sequence[Migration]]
"""What is done with stored values to bring them to a version from the one before it."""
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
    kind: type[Value],
    *,
    default: Value,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> ValueState[Value]: ...


@overload
def value_state(
    kind: type[Value],
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> ValueState[Value | None]: ...


@overload
def value_state(
    kind: str | Type,
    *,
    default: object = None,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> ValueState[Any]: ...


@placed
def value_state(
    kind: object,
    *,
    default: object = None,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> Any:
    """Remember one value a key: `self.seen.value += 1`.

    With `ttl` it is forgotten so long, by event time, after it was last written. `was` is the
    name it had before, in states that are stored. A value that was stored in an earlier
    `version` goes through the `migrations` to each later one: `renamed` fields, or a function
    that is given the old value (a struct as a dictionary) and gives the new one. Fields that
    are new, gone or wider need none.
    """
    held = StateField(_UNNAMED, "value", type_of(kind), None, maybe(ttl), was, default, python=kind)
    return Declared(_versioned(held, version, migrations))


@overload
def list_state(
    item: type[Value],
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> ListState[Value]: ...


@overload
def list_state(
    item: str | Type,
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> ListState[Any]: ...


@placed
def list_state(
    item: object,
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> Any:
    """Remember a list a key: `self.last.append(row["n"])`; see `value_state`.

    Migrations are of its items.
    """
    held = StateField(_UNNAMED, "list", type_of(item), None, maybe(ttl), was, python=item)
    return Declared(_versioned(held, version, migrations))


@overload
def map_state(
    key: type[Name],
    value: type[Value],
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> MapState[Name, Value]: ...


@overload
def map_state(
    key: type[Any] | str | Type,
    value: type[Any] | str | Type,
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> MapState[Any, Any]: ...


@placed
def map_state(
    key: object,
    value: object,
    *,
    ttl: Duration | None = None,
    was: str | None = None,
    version: int = 1,
    migrations: Migrations | None = None,
) -> Any:
    """Remember a map a key: `self.by_page[row["page"]] = row["n"]`; see `value_state`.

    Migrations are of its values.
    """
    held = StateField(_UNNAMED, "map", type_of(value), type_of(key), maybe(ttl), was, python=value)
    return Declared(_versioned(held, version, migrations))


@placed
def renamed(path: str, to: str) -> Renamed:
    """Give a field of stored structs another name, as one of the `migrations` of a state.

    `migrations={2: renamed("mail", "email")}`; a field of a field is named by its path:
    `renamed("address.zip", "postcode")`.
    """
    return Renamed(path, to)


def _versioned(field: StateField, version: int, given: Migrations | None) -> StateField:
    steps = sorted((given or {}).items(), key=lambda item: item[0])
    flat = tuple(
        (leads_to, step)
        for leads_to, found in steps
        for step in (found if isinstance(found, Sequence) else (found,))
    )
    return replace(field, version=version, migrations=flat)


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
