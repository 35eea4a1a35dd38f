"""GROUP BY: one row for each key, kept up to date with every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.errors import SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of
from penstock.front.sql.expression import Resolver
from penstock.front.sql.functions.aggregates import resolve_aggregate
from penstock.front.sql.functions.registry import is_aggregate
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import key_missing, stream_rows
from penstock.front.sql.project import Given, selected
from penstock.front.sql.reading import Rows
from penstock.front.sql.rewrite import MEASURE, replaced, unknown_columns
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.sink import Result
from penstock.front.sql.source import (
    ROW_OFFSET,
    ROW_TIME,
    WINDOW_END,
    WINDOW_START,
    SourceColumn,
)
from penstock.front.sql.table_filter import remembered
from penstock.front.sql.tree_expression import Call, Lambda
from penstock.front.sql.tree_query import Query, Select, SelectItem
from penstock.front.sql.walk import calls_of
from penstock.front.sql.window import Placed, placed
from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call as ModelCall
from penstock.model.expr import Column, Expr
from penstock.model.measure import Measure
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project
from penstock.model.trigger import EACH_ROW, Always
from penstock.schema.types import INT64

_EACH_BATCH = Always()
_OF_STREAMS = ("LATEST_BY_OFFSET", "EARLIEST_BY_OFFSET")


def asks_for_aggregate(select: Select) -> bool:
    """Whether a SELECT has GROUP BY, or an aggregate that needs it."""
    items = [item.expression for item in select.items if isinstance(item, SelectItem)]
    said = [*items, *([select.having] if select.having is not None else [])]
    asked = any(is_aggregate(call.function.text) for item in said for call in calls_of(item))
    return select.group_by is not None or asked


class Measures:
    """The aggregates that a query asks for, each computed once."""

    def __init__(self, rows: Rows, catalog: Catalog) -> None:
        self._inside = Resolver(rows.scope, catalog.types)
        self._table = rows.table
        self._settings = catalog.settings
        self._known: dict[tuple[str, tuple[Expr, ...]], Typed] = {}
        self.measures: list[Measure] = []

    def hook(self, call: Call) -> Typed | None:
        """Give the column of an aggregate's result."""
        name = call.function.text
        if not is_aggregate(name):
            return None
        if self._table and name in _OF_STREAMS:
            raise SqlError(
                "SQL_FUNCTION_PLACE",
                self._inside.scope.text.shown(
                    f"{name} is asked of a table, whose rows have no order", call.span
                ),
                hint="Ask it of a stream.",
            )
        plain = [item for item in call.arguments if not isinstance(item, Lambda)]
        arguments = [self._inside.typed(item) for item in plain]
        same = (name, tuple(argument.expr for argument in arguments))
        if same not in self._known:
            held = f"_m{len(self.measures)}"
            made = resolve_aggregate(name, arguments, held, self._settings)
            self.measures.append(made.measure)
            result: Expr = Column(held)
            if made.finish is not None:
                result = made.finish(result)
            self._known[same] = Typed(result, made.type)
        return self._known[same]


def aggregated(
    rows: Rows, select: Select, query: Query, catalog: Catalog, *, asked: bool = False
) -> Result:
    """Give the rows of a query with GROUP BY; one that is only `asked` needs no key."""
    if select.group_by is None and not asked:
        raise SqlError(
            "SQL_GROUP_BY",
            rows.scope.text.shown(
                "an aggregate is asked for without GROUP BY", select.items[0].span
            ),
            hint="Add GROUP BY and the columns to group by.",
        )
    measures = Measures(rows, catalog)
    where = placed(select.window, query.emit, rows.scope.text)
    scope = _with_window(rows.scope) if where is not None else rows.scope
    resolver = Resolver(scope, catalog.types, measures.hook)
    plain = Resolver(rows.scope, catalog.types)
    groups = [plain.typed(item) for item in select.group_by or ()]
    given = selected(select.items, resolver, joined=len(rows.scope.sources) > 1)
    having = None
    if select.having is not None:
        having = resolver.condition(select.having, "HAVING")
    if not measures.measures and not asked:
        assert select.group_by is not None
        raise SqlError(
            "SQL_GROUP_BY",
            resolver.scope.text.shown(
                "GROUP BY is given without an aggregate", select.group_by[0].span
            ),
        )
    keys = {group.expr: Column(f"_g{place}") for place, group in enumerate(groups)}
    given = [_over_groups(column, keys, resolver) for column in given]
    relation = _folded(rows, groups, measures.measures, where)
    if having is not None:
        condition = replaced(having.expr, keys)
        key_names = [column.name for column in keys.values()]
        bounds = () if where is None else (WINDOW_START, WINDOW_END)
        relation = remembered(relation, (*key_names, *bounds), condition, "HAVING")
    return _result(rows, relation, given, keys, where, None if asked else resolver)


def _with_window(scope: Scope) -> Scope:
    source = scope.columns[0].source
    bounds = tuple(
        ScopeColumn(source, name, name, INT64, system=True) for name in (WINDOW_START, WINDOW_END)
    )
    kept = tuple(
        column for column in scope.columns if column.name not in (WINDOW_START, WINDOW_END)
    )
    return Scope((*kept, *bounds), scope.text)


def _over_groups(column: Given, keys: Mapping[Expr, Column], resolver: Resolver) -> Given:
    """Let a column be computed of groups and aggregates; of rows it cannot be."""
    expr = replaced(column.expr, keys)
    strange = unknown_columns(expr)
    if strange:
        raise SqlError(
            "SQL_GROUP_BY",
            resolver.scope.text.shown(
                f'column "{strange[0]}" is neither in GROUP BY nor inside an aggregate', column.span
            ),
            hint="Add it to GROUP BY, or put an aggregate around it.",
        )
    return replace(column, typed=Typed(expr, column.typed.type))


def _folded(
    rows: Rows, groups: Sequence[Typed], measures: Sequence[Measure], where: Placed | None
) -> Relation:
    source = changes_of(rows) if rows.table else stream_rows(rows).relation
    same = [Named(name, Column(name)) for name in source.schema.names]
    keys = [Named(f"_g{place}", group.expr) for place, group in enumerate(groups)]
    wide: Relation = Project(source, (*same, *keys), "GROUP BY")
    if keys:
        known = [ModelCall("is_not_null", (Column(key.name),)) for key in keys]
        whole: Expr = known[0]
        for other in known[1:]:
            whole = ModelCall("and", (whole, other))
        wide = Filter(wide, whole, "GROUP BY")
    if where is None:
        return Aggregate(
            wide,
            tuple(key.name for key in keys),
            (*measures, *_each_change(source)) if rows.table else tuple(measures),
            trigger=_EACH_BATCH if rows.table else EACH_ROW,
            refinement=Refinement("accumulating"),
            site="GROUP BY",
        )
    return where.aggregate(wide, tuple(key.name for key in keys), tuple(measures))


def _each_change(source: Relation) -> Iterator[Measure]:
    """Let every record of a table be another row: one that changes nothing is an update, too."""
    for name in (ROW_OFFSET, ROW_TIME):
        if name in source.schema.names:
            yield Measure(f"{MEASURE}{name}", "count", (Column(name),), site="GROUP BY")


def _result(
    rows: Rows,
    relation: Relation,
    given: Sequence[Given],
    keys: Mapping[Expr, Column],
    where: Placed | None,
    resolver: Resolver | None,
) -> Result:
    columns: list[SourceColumn] = []
    held = [column.name for column in keys.values()]
    found: dict[str, SourceColumn] = {}
    for column in given:
        name = column.expr.name if isinstance(column.expr, Column) else ""
        if name in found and resolver is not None:
            raise SqlError(
                "SQL_KEY",
                resolver.scope.text.shown(
                    f'the key column "{column.name}" is selected twice', column.span
                ),
                hint="Write AS_VALUE(...) for the copy of it in the value.",
            )
        if name in held:
            found[name] = SourceColumn(column.name, column.type, "key")
        else:
            columns.append(SourceColumn(column.name, column.type))
    for name in held:
        if name not in found and resolver is not None:
            raise key_missing("of GROUP BY", given, resolver)
    window = None if where is None else where.keys
    shown = tuple(SourceColumn(column.name, column.type) for column in given)
    hidden = [GONE] if GONE in relation.schema.names else []
    hidden += [] if where is None or resolver is None else [WINDOW_START, WINDOW_END]
    exprs = [Named(column.name, column.expr) for column in given]
    passed = [Named(name, Column(name)) for name in hidden]
    project = Project(relation, (*exprs, *passed), "SELECT")
    ordered = (*(found[name] for name in held if name in found), *columns)
    return Result(project, ordered, rows, table=True, window=window, shown=shown)
