"""Steps without memory, made from what the user gave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from penstock.errors import ModelError
from penstock.front.dsl.expression import Expression, Operand, Subject, node_of
from penstock.model.expr import Column
from penstock.model.relation import Relation
from penstock.model.site import user_site
from penstock.model.stateless import Apply, Filter, Named, Project, Shape
from penstock.schema.annotation import SchemaLike, result_of, schema_of
from penstock.schema.schema import Schema

Row = dict[str, Any]


def filtered(source: Relation, condition: Expression | Callable[[Row], Any]) -> Relation:
    """Give the rows for which an expression or a function of a row is true."""
    if isinstance(condition, Expression):
        return Filter(source, condition.node, user_site())
    return applied(source, condition, "filter", source.schema)


def selected(source: Relation, columns: Sequence[Subject], named: Mapping[str, Operand]) -> Project:
    """Give exactly these columns."""
    chosen = [_named(column) for column in columns]
    chosen += [Named(name, node_of(value)) for name, value in named.items()]
    return _project(source, chosen)


def extended(source: Relation, named: Mapping[str, Operand]) -> Project:
    """Give all columns and more, or others under a name that is there."""
    new = {name: Named(name, node_of(value)) for name, value in named.items()}
    kept = [new.pop(name, Named(name, Column(name))) for name in source.schema.names]
    return _project(source, [*kept, *new.values()])


def without(source: Relation, columns: Sequence[str]) -> Project:
    """Give all columns but these."""
    _must_exist(source.schema, columns)
    kept = [name for name in source.schema.names if name not in columns]
    return _project(source, [Named(name, Column(name)) for name in kept])


def renamed(source: Relation, names: Mapping[str, str]) -> Project:
    """Give the same columns, some under another name."""
    _must_exist(source.schema, names)
    return _project(
        source, [Named(names.get(name, name), Column(name)) for name in source.schema.names]
    )


def applied(source: Relation, function: Callable[..., Any], shape: Shape, gives: Schema) -> Apply:
    """Give what a function of the user makes of the rows."""
    if not callable(function):
        raise ModelError(
            "FUNCTION_FORM",
            f"{function!r} is no function",
            hint="Give a function that takes a row as a dictionary, or an expression.",
        )
    return Apply(source, _called(function), function, shape, gives, user_site())


def result_schema(
    function: Callable[..., Any], schema: SchemaLike | None, *, many: bool = False
) -> Schema:
    """Give the columns that a function of rows makes: as said, or as it is annotated."""
    if schema is not None:
        return schema_of(schema)
    found = result_of(function, many=many)
    if found is None:
        raise ModelError(
            "FUNCTION_SCHEMA",
            f'the columns that function "{_called(function)}" gives are not said',
            hint="Add schema=..., or annotate what it returns with a dataclass or a TypedDict.",
        )
    return found


def _project(source: Relation, columns: Sequence[Named]) -> Project:
    if not columns:
        raise ModelError(
            "SELECT_EMPTY", "no column is left of a stream", hint="Keep at least one column."
        )
    step = Project(source, tuple(columns), user_site())
    _ = step.schema
    return step


def _named(column: Subject) -> Named:
    if isinstance(column, str):
        return Named(column, Column(column))
    if column.name is None:
        raise ModelError(
            "EXPRESSION_NAME",
            f"{column} has no name to become a column",
            hint='Write select(name=...), or add .alias("name").',
        )
    return Named(column.name, column.node)


def _must_exist(schema: Schema, names: Iterable[str]) -> None:
    for name in names:
        schema.field(name)


def _called(function: object) -> str:
    return getattr(function, "__qualname__", type(function).__name__).rpartition(".")[2]
