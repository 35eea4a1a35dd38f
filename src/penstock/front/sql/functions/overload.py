"""Functions by their overloads, and how one is chosen for the types of the arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import override

from penstock.errors import SqlError
from penstock.front.sql.functions.shape import Bound, Shape, fits, made, shape_of
from penstock.front.sql.functions.typed import Argument, LambdaArgument, Typed, Unit, as_type
from penstock.front.sql.types import type_text
from penstock.model.expr import Expr, Lambda, Literal, Resolved, Variable
from penstock.schema.types import Type

UNITS = (
    "MILLISECONDS", "SECONDS", "MINUTES", "HOURS", "DAYS", "MONTHS", "QUARTERS", "YEARS", "DECADES",
)  # fmt: skip
Rule: TypeAlias = Callable[[Sequence[Type | None]], Type]
_DECLARED = re.compile(r"\((.*?)\)\s*(.+)")


@dataclass(frozen=True, slots=True)
class Overload:
    """What one form of a function takes and gives; the last parameter may repeat."""

    parameters: tuple[Shape, ...]
    gives: str
    variadic: bool = False

    @property
    def generic(self) -> bool:
        """Whether it takes values of any type."""
        return any(shape.generic for shape in self.parameters)

    def parameter(self, place: int) -> Shape:
        """Give what an argument must be."""
        return self.parameters[min(place, len(self.parameters) - 1)]

    def counts(self, given: int) -> bool:
        """Whether it takes so many arguments."""
        least = len(self.parameters)
        return given >= least if self.variadic else given == least

    @override
    def __str__(self) -> str:
        more = "..." if self.variadic else ""
        return f"({', '.join(str(shape) for shape in self.parameters)}{more})"


def overloads_of(text: str) -> tuple[Overload, ...]:
    """Read declarations such as `(INT) INT; (T...) T`."""
    return tuple(_overload(part.strip()) for part in text.split(";"))


def _overload(text: str) -> Overload:
    found = _DECLARED.fullmatch(text)
    assert found is not None, text
    words = _parameters(found[1])
    variadic = bool(words) and words[-1].endswith("...")
    shapes = tuple(shape_of(word.removesuffix("...")) for word in words)
    return Overload(shapes, found[2].strip(), variadic)


def _parameters(text: str) -> list[str]:
    words, depth, start = [], 0, 0
    for place, letter in enumerate(text):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            words.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*words, last] if last else words


class Call:
    """The arguments of one call, matched with an overload."""

    def __init__(self, overload: Overload, arguments: Sequence[Argument], *, casts: bool) -> None:
        self.overload = overload
        self._arguments = arguments
        self._bound: Bound = {}
        self._lambdas: dict[int, Lambda] = {}
        self.fits = overload.counts(len(arguments)) and all(
            self._fits(place, argument, casts=casts) for place, argument in enumerate(arguments)
        )

    def _fits(self, place: int, argument: Argument, *, casts: bool) -> bool:
        shape = self.overload.parameter(place)
        if isinstance(argument, Unit):
            return shape.word == "UNIT" and _unit(argument.name) in UNITS
        if isinstance(argument, LambdaArgument):
            return shape.word == "LAMBDA" and self._takes(place, shape, argument)
        if shape.word in ("UNIT", "LAMBDA"):
            return False
        return argument.type is None or fits(shape, argument.type, self._bound, casts=casts)

    def _takes(self, place: int, shape: Shape, argument: LambdaArgument) -> bool:
        *inputs, output = shape.parts
        if len(inputs) != len(argument.parameters):
            return False
        types = [made(item, self._bound) for item in inputs]
        variables = tuple(
            Variable(name, type_) for name, type_ in zip(argument.parameters, types, strict=True)
        )
        body = argument.resolve(tuple(Typed(item, item.type) for item in variables))
        if body.type is not None and not fits(output, body.type, self._bound, casts=False):
            return False
        self._lambdas[place] = Lambda(variables, as_type(body, made(output, self._bound)))
        return True

    def expressions(self) -> tuple[Expr, ...]:
        """Give the arguments as the function takes them."""
        return tuple(self._expression(place) for place in range(len(self._arguments)))

    def _expression(self, place: int) -> Expr:
        argument = self._arguments[place]
        if isinstance(argument, Unit):
            return Literal(_unit(argument.name))
        if isinstance(argument, LambdaArgument):
            return self._lambdas[place]
        return as_type(argument, made(self.overload.parameter(place), self._bound, argument.type))

    def gives(self, rules: Mapping[str, Rule]) -> Type:
        """Give the type of the result: as declared, or by a rule."""
        if self.overload.gives.startswith("="):
            types = [
                argument.type if isinstance(argument, Typed) else None
                for argument in self._arguments
            ]
            return rules[self.overload.gives[1:]](types)
        return made(shape_of(self.overload.gives), self._bound)


def _unit(name: str) -> str:
    upper = name.upper()
    return upper if upper.endswith("S") else f"{upper}S"


def choose(name: str, overloads: Sequence[Overload], arguments: Sequence[Argument]) -> Call:
    """Choose the overload that takes the arguments as they are, or else the one by casts."""
    for casts in (False, True):
        calls = [Call(overload, arguments, casts=casts) for overload in overloads]
        found = [call for call in calls if call.fits]
        for preferred in (
            [call for call in found if not call.overload.variadic and not call.overload.generic],
            [call for call in found if not call.overload.variadic],
            found,
        ):
            if len(preferred) == 1:
                return preferred[0]
        if found:
            raise SqlError(
                "SQL_FUNCTION_AMBIGUOUS",
                f"function {name} has several forms for parameters {_given(arguments)}",
                hint=f"Cast an argument, for one of {_ways(name, overloads)}.",
            )
    raise SqlError(
        "SQL_FUNCTION_ARGUMENTS",
        f"function {name} does not accept parameters {_given(arguments)}",
        hint=f"Use {_ways(name, overloads)}.",
    )


def _given(arguments: Sequence[Argument]) -> str:
    return f"({', '.join(_argument_text(argument) for argument in arguments)})"


def _ways(name: str, overloads: Sequence[Overload]) -> str:
    return " or ".join(f"{name}{overload}" for overload in overloads)


def _argument_text(argument: Argument) -> str:
    if isinstance(argument, Unit):
        return argument.name
    return "LAMBDA" if isinstance(argument, LambdaArgument) else type_text(argument.type)


def resolved(function: str, call: Call, rules: Mapping[str, Rule]) -> Typed:
    """Give the expression of a call."""
    gives = call.gives(rules)
    return Typed(Resolved(function, call.expressions(), gives), gives)
