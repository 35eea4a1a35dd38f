"""Functions that the user has made: what is known of them, and which are known now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

from penstock.errors import SqlError
from penstock.front.sql.functions.entry import Described
from penstock.front.sql.functions.typed import Argument, Typed, as_type
from penstock.front.sql.types import type_text
from penstock.model.expr import Expr, Resolved
from penstock.model.user_code import UserCode
from penstock.schema.types import Kind, Type, array_of

FunctionKind: TypeAlias = Literal["scalar", "aggregate", "table"]
_WIDENS: Mapping[Kind, tuple[Kind, ...]] = {
    Kind.INT32: (Kind.INT64, Kind.DECIMAL, Kind.FLOAT64),
    Kind.INT64: (Kind.DECIMAL, Kind.FLOAT64),
    Kind.DECIMAL: (Kind.DECIMAL, Kind.FLOAT64),
    Kind.STRING: (Kind.DATE, Kind.TIME, Kind.TIMESTAMP),
}


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function of the user's own: what it takes and gives, and its code."""

    name: str
    kind: FunctionKind
    parameters: tuple[tuple[str, Type], ...]
    gives: Type
    code: UserCode
    description: str = ""
    tests: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """How it is called."""
        given = ", ".join(f"{name} {type_text(type_)}" for name, type_ in self.parameters)
        return f"{self.name}({given}) RETURNS {type_text(self.gives)}"

    def described(self) -> Described:
        """Give what DESCRIBE FUNCTION shows."""
        ways = {"": "row by row", "polars": "on polars columns", "arrow": "on Arrow arrays"}
        text = self.description or "A function of the user's own."
        return Described(
            self.name,
            self.kind,
            "USER",
            f"{text} Python, {ways[self.code.batch]}.",
            (self.signature,),
            self.tests[0] if self.tests else "",
            "true" if self.tests else "",
        )

    def arguments(self, given: Sequence[Argument]) -> tuple[Expr, ...]:
        """Give arguments in the declared types; those that do not fit are refused."""
        wanted = [type_ for _, type_ in self.parameters]
        plain = [item for item in given if isinstance(item, Typed)]
        whole = len(plain) == len(given) == len(wanted)
        if not whole or not all(map(_fits, plain, wanted)):
            shown = ", ".join(
                type_text(item.type) if isinstance(item, Typed) else "LAMBDA" for item in given
            )
            raise SqlError(
                "SQL_FUNCTION_ARGUMENTS",
                f"function {self.name} does not accept parameters ({shown})",
                hint=f"Use {self.signature}.",
            )
        return tuple(as_type(item, type_) for item, type_ in zip(plain, wanted, strict=True))

    def called(self, given: Sequence[Argument]) -> Typed:
        """Give the expression of a call; a table function gives an array of its rows."""
        gives = array_of(self.gives) if self.kind == "table" else self.gives
        arguments = self.arguments(given)
        return Typed(Resolved(f"{self.name.lower()} (yours)", arguments, gives, self.code), gives)


def _fits(value: Typed, wanted: Type) -> bool:
    if value.type is None or value.type == wanted:
        return True
    return wanted.kind in _WIDENS.get(value.type.kind, ())


# Names are resolved in many places of a statement: which functions there are is told once for
# the statement, not handed through all of them.
_KNOWN: ContextVar[Mapping[str, UserFunction]] = ContextVar(
    "user_functions", default=MappingProxyType({})
)


@contextmanager
def known_functions(functions: Mapping[str, UserFunction]) -> Iterator[None]:
    """Let these be the user's functions for the length of a with block."""
    token = _KNOWN.set(functions)
    try:
        yield
    finally:
        _KNOWN.reset(token)


def user_function(name: str, *kinds: FunctionKind) -> UserFunction | None:
    """Give a function of the user's by its name, if there is one of these kinds."""
    found = _KNOWN.get().get(name.upper())
    return found if found is not None and (not kinds or found.kind in kinds) else None


def user_function_names() -> tuple[str, ...]:
    """Give the names of the user's functions."""
    return tuple(_KNOWN.get())
