"""A new function tried out before it is kept: compiled, called with a sample and with its tests."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import polars as pl
from typing_extensions import override

from penstock.errors import PenstockError, SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.functions.user_functions import UserFunction, known_functions
from penstock.front.sql.parse import parse_expression
from penstock.front.sql.scope import Scope
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.front.sql.tree_expression import Comparison
from penstock.front.sql.tree_statement import CreateFunction
from penstock.kernel.columns import series_of
from penstock.kernel.dead import Failure, failure_of
from penstock.kernel.expression import lower
from penstock.kernel.user_calls import UserRows
from penstock.model.user_code import AGGREGATE_STEPS, Trial, UserCode, loaded
from penstock.schema.schema import Schema
from penstock.schema.types import Kind, Type, array_of

_WRONG = ("NameError", "TypeError", "AttributeError", "ImportError", "ModuleNotFoundError")
"""What tells of a function that is wrong, not of a value that it cannot take."""
_NOTHING = Schema(())


def tried(function: UserFunction, statement: CreateFunction, catalog: Catalog) -> tuple[str, ...]:
    """Refuse a function that cannot be called, or fails its tests; give what is to be noted."""
    said = _Said(function, statement)
    said.compiled()
    notes = said.aggregated() if _folds(function) else said.called()
    for test in function.tests:
        said.passes(test, catalog)
    return notes


def _folds(function: UserFunction) -> bool:
    return function.kind == "aggregate" and not function.code.collected


@dataclass(frozen=True, slots=True)
class _Said:
    """A function and the statement that makes it."""

    function: UserFunction
    statement: CreateFunction

    @property
    def code(self) -> UserCode:
        """Its code."""
        return self.function.code

    def compiled(self) -> None:
        """Refuse a text that Python does not take, or that takes other parameters."""
        try:
            found = loaded(self.code)
        except SyntaxError as error:
            raise self.refused(f"SyntaxError: {error.msg}", error.lineno) from error
        except Exception as error:
            failure = failure_of(0, error)
            raise self.refused(failure.error, self._line(failure)) from error
        if _folds(self.function):
            self._steps(found)
            return
        if not callable(found):
            raise self.refused(f"{type(found).__name__} is not a function", None)
        self._takes(found, len(self.function.parameters))

    def _steps(self, found: object) -> None:
        for step in AGGREGATE_STEPS:
            made = getattr(found, step, None)
            if made is None and step == "retract":
                continue
            if not callable(made):
                raise self.refused(f"the aggregate has no function {step}", None)
            count = len(self.function.parameters)
            taken = {"init": 0, "add": 1 + count, "retract": 1 + count, "merge": 2, "result": 1}
            self._takes(made, taken[step])

    def _takes(self, function: Any, count: int) -> None:  # noqa: ANN401  # any callable
        try:
            inspect.signature(function).bind(*range(count))
        except TypeError as error:
            name = getattr(function, "__name__", "the function")
            code = getattr(function, "__code__", None)
            line = code.co_firstlineno if code and code.co_filename == self.code.file else None
            raise self.refused(f"{name} is given {count} values: {error}", line) from error
        except ValueError:
            # Some functions written in C do not say what they take.
            return

    def called(self) -> tuple[str, ...]:
        """Call it with a sample, and with nulls where it is to take them."""
        values = [sample(type_) for _, type_ in self.function.parameters]
        failures = self._failures(values)
        if self.code.nulls and values:
            nulls = self._failures([None] * len(values))
            if nulls:
                hint = "Let it take None, or leave out NULLS = 'call'."
                raise self.refused(f"of nulls: {nulls[0].error}", self._line(nulls[0]), hint)
        return self._judged(failures, values)

    def _judged(self, failures: Sequence[Failure], values: Sequence[Any]) -> tuple[str, ...]:
        if not failures:
            return ()
        error = failures[0].error
        shown = ", ".join(map(repr, values))
        if error.startswith(_WRONG):
            raise self.refused(f"of ({shown}): {error}", self._line(failures[0]))
        return (f"of ({shown}) it raises {error}; rows like that become dead letters",)

    def _failures(self, values: Sequence[Any]) -> Sequence[Failure]:
        function = self.function
        types = [type_ for _, type_ in function.parameters]
        gives = array_of(function.gives) if function.kind == "table" else function.gives
        if self.code.collected:
            held = Type(Kind.STRUCT, fields=function.parameters)
            row = dict(zip((name for name, _ in function.parameters), values, strict=True))
            columns = [series_of("it", [[row, row]], array_of(held))]
        else:
            columns = [
                series_of("it", [it], type_) for it, type_ in zip(values, types, strict=True)
            ]
        return UserRows(self.code, gives).computed(columns, 1)[1]

    def aggregated(self) -> tuple[str, ...]:
        """Fold a sample, merge, take it back, and ask for the result."""
        values = [sample(type_) for _, type_ in self.function.parameters]
        steps = loaded(self.code)
        try:
            held = steps.merge(steps.add(steps.init(), *values), steps.init())
            pickle.dumps(held)
            found = [steps.result(held), steps.result(steps.init())]
            if hasattr(steps, "retract"):
                steps.retract(held, *values)
        except Exception as error:  # noqa: BLE001  # whatever the user's code raises
            return self._judged([failure_of(0, error)], values)
        for result in found:
            try:
                series_of("it", [result], self.function.gives)
            except PenstockError as error:
                fact = f"the result {result!r:.200} is not of type {self.function.gives}"
                raise self.refused(fact, None) from error
        return ()

    def passes(self, test: str, catalog: Catalog) -> None:
        """Refuse where a test is not true."""
        scalar = _as_scalar(self.function)
        text = SourceText(test)
        with known_functions({**catalog.functions, scalar.name: scalar}):
            tree = parse_expression(test)
            resolver = Resolver(Scope((), text), catalog.types)
            try:
                found = _value(resolver.condition(tree, "a test"))
                if found is True:
                    return
                got = _value(resolver.typed(tree.left)) if isinstance(tree, Comparison) else found
            except pl.exceptions.PolarsError as error:
                got = str(error).split("\n\nThis error occurred", maxsplit=1)[0].strip()
        spans = [it.span for it in self.statement.properties if it.name.upper().startswith("TEST")]
        raise SqlError(
            "SQL_FUNCTION_TEST",
            self.statement.source.shown(
                f"the test {test} of function {self.function.name} is not true: it gives {got}",
                spans[self.function.tests.index(test)],
            ),
            hint="Correct the function or its test; nothing was changed.",
        )

    def refused(self, fact: str, line: int | None, hint: str = "") -> SqlError:
        """Give an error that shows the user's line."""
        text = self.statement.source
        shown = f"function {self.function.name} cannot be made: {fact}"
        return SqlError(
            "SQL_FUNCTION_CODE",
            text.shown(shown, self._span(line)),
            hint=hint or "Correct the text of the function; nothing was changed.",
        )

    def _span(self, line: int | None) -> Span:
        """Give where a line of the function's text stands in the statement."""
        body, text = self.code.text, self.statement.source.text
        start = text.find(body)
        lines = body.splitlines(keepends=True)
        if line is None or start < 0 or not 1 <= line <= len(lines):
            return self.statement.name.span
        before = start + sum(map(len, lines[: line - 1]))
        bare = lines[line - 1].strip()
        begin = before + lines[line - 1].find(bare)
        return Span(begin, begin + max(1, len(bare)))

    def _line(self, failure: Failure) -> int | None:
        pattern = rf'File "{re.escape(self.code.file)}", line (\d+)'
        found = re.findall(pattern, failure.traceback or "")
        return int(found[-1]) if found else None


@dataclass(frozen=True, slots=True)
class OverLists(Trial):
    """An aggregate of rows that are given as lists, for its tests."""

    @override
    def __call__(self, *columns: Any) -> Any:
        """Give the result."""
        steps = loaded(self.code)
        if self.code.collected:
            return steps(*(pl.Series(column) for column in columns))
        held = steps.init()
        for row in zip(*columns, strict=True):
            held = steps.add(held, *row)
        return steps.result(held)


def _as_scalar(function: UserFunction) -> UserFunction:
    """Give a function as a test calls it: of rows as lists, giving rows as a list."""
    if function.kind == "table":
        return replace(function, kind="scalar", gives=array_of(function.gives))
    if function.kind == "aggregate":
        lists = tuple((name, array_of(type_)) for name, type_ in function.parameters)
        over: Any = OverLists(function.code)
        return replace(function, kind="scalar", parameters=lists, code=over)
    return function


def _value(typed: Typed) -> Any:  # noqa: ANN401
    frame = pl.DataFrame({"_": [0]}, schema={"_": pl.Int32})
    return frame.select(lower(typed.expr, _NOTHING).alias("it")).row(0)[0]


def sample(type_: Type) -> Any:  # noqa: ANN401
    """Give a value of a type, for a first call."""
    match type_.kind:
        case Kind.ARRAY:
            return [sample(type_.item)] if type_.item else []
        case Kind.MAP:
            key = "a" if type_.key is None else sample(type_.key)
            return {key: sample(type_.item)} if type_.item else {}
        case Kind.STRUCT:
            return {name: sample(part) for name, part in type_.fields}
        case _:
            return _SAMPLES[type_.kind]


_SAMPLES: dict[Kind, Any] = {
    Kind.BOOLEAN: True,
    Kind.INT32: 1,
    Kind.INT64: 1,
    Kind.FLOAT64: 1.0,
    Kind.DECIMAL: Decimal(0),
    Kind.STRING: "a",
    Kind.BYTES: b"a",
    Kind.DATE: date(2020, 1, 31),
    Kind.TIME: time(12, 30),
    Kind.TIMESTAMP: datetime(2020, 1, 31, 12, 30, tzinfo=UTC),
}
