"""GROUP BY: one row for each key, kept up to date with every row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from penstock.errors import ModelError, SqlError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.changes import changes_of, table_keys, taken_back
from penstock.front.sql.emission_setting import SETTING
from penstock.front.sql.expression import Resolver
from penstock.front.sql.fitting_sums import sums_fit
from penstock.front.sql.functions.aggregates import resolve_aggregate
from penstock.front.sql.functions.registry import is_aggregate
from penstock.front.sql.functions.typed import Typed
from penstock.front.sql.keying import key_missing, stream_rows
from penstock.front.sql.project import Given, selected
from penstock.front.sql.reading import Rows
from penstock.front.sql.record_changes import EACH_RECORD, changes_by_record
from penstock.front.sql.rewrite import GROUP, MEASURE, replaced, unknown_columns
from penstock.front.sql.rows import GONE
from penstock.front.sql.scope import Scope, ScopeColumn
from penstock.front.sql.sink import Result
from penstock.front.sql.source import ROW_OFFSET, ROW_TIME, SYSTEM_COLUMNS, SourceColumn
from penstock.front.sql.table_results import WEIGHT, asked_of, listed, weight
from penstock.front.sql.tree_expression import Call, Lambda
from penstock.front.sql.tree_query import Query, Select, SelectItem
from penstock.front.sql.tree_statement import SourceKind
from penstock.front.sql.user_conditions import with_conditions
from penstock.front.sql.user_measures import prepared
from penstock.front.sql.waiting import waited
from penstock.front.sql.walk import calls_of
from penstock.front.sql.window import BOUNDS, Asked, Placed, placed
from penstock.model.change_rows import ChangeRows
from penstock.model.expr import Call as ModelCall
from penstock.model.expr import Column, Expr
from penstock.model.measure import Measure
from penstock.model.relation import Relation
from penstock.model.stateless import Filter, Named, Project
from penstock.model.trigger import EACH_ROW, Always
from penstock.schema.types import INT32, INT64

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
    rows: Rows,
    select: Select,
    query: Query,
    catalog: Catalog,
    *,
    asked: bool = False,
    kind: SourceKind | None = None,
) -> Result:
    """Give the rows of a query with GROUP BY; one that is only `asked` needs no key.

    `kind` is what is made of them, where triggers leave both open.
    """
    if select.group_by is None and not asked:
        raise SqlError(
            "SQL_GROUP_BY",
            rows.scope.text.shown(
                "an aggregate is asked for without GROUP BY", select.items[0].span
            ),
            hint="Add GROUP BY and the columns to group by.",
        )
    measures = Measures(rows, catalog)
    plain = Resolver(rows.scope, catalog.types)
    said = Asked(select.window, query.emit, kind)
    where = placed(said, plain, catalog.setting(SETTING))
    closing = rows.closes and where.keys is not None and query.emit is None and not rows.table
    where = where.closing() if closing else where
    scope = _with_window(rows.scope) if where.window is not None else rows.scope
    resolver = Resolver(scope, catalog.types, measures.hook)
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
    condition = None if having is None else replaced(having.expr, keys)
    where = asked_of(where, condition, of_table=rows.table)
    waiting = waited(rows, where.waits)
    relation = _folded(waiting, groups, measures.measures, where)
    relation = sums_fit(relation, measures.measures, waiting.relation.schema)
    relation = listed(relation, tuple(key.name for key in keys.values()), where, condition)
    made = _result(waiting, relation, given, keys, where, None if asked else resolver)
    return replace(made, closes=closing)


def _with_window(scope: Scope) -> Scope:
    source = scope.columns[0].source
    bounds = tuple(ScopeColumn(source, name, name, INT64, system=True) for name in BOUNDS)
    kept = tuple(column for column in scope.columns if column.name not in BOUNDS)
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
    rows: Rows, groups: Sequence[Typed], measures: Sequence[Measure], where: Placed
) -> Relation:
    by_record = rows.table and where.trigger == EACH_ROW and not rows.relation.retracts
    source = changes_of(rows) if rows.table else stream_rows(rows).relation
    source = rows.relation if by_record else source
    same = [Named(name, Column(name)) for name in source.schema.names]
    keys = _group_columns(groups)
    others = [key for key in keys if key.expr != Column(key.name)]
    wide: Relation = Project(source, (*same, *others), "GROUP BY")
    if by_record:
        wide = changes_by_record(wide, table_keys(rows), tuple(key.name for key in keys))
        where = replace(where, trigger=EACH_RECORD)
    if keys:
        known = [ModelCall("is_not_null", (Column(key.name),)) for key in keys]
        whole: Expr = known[0]
        for other in known[1:]:
            whole = ModelCall("and", (whole, other))
        wide = Filter(wide, whole, "GROUP BY")
    wide, measures = prepared(wide, measures)
    wide, where = with_conditions(wide, where)
    names = tuple(key.name for key in keys)
    if rows.table and where.ksql and where.window is None and not by_record:
        if not isinstance(rows.relation, ChangeRows) and taken_back(rows.relation) is None:
            measures = (*measures, *_each_change(source))
        where = replace(where, trigger=_EACH_BATCH)
    try:
        return _as_groups(where.aggregate(wide, names, tuple(measures)), names)
    except ModelError as refusal:
        raise SqlError(
            "SQL_EMIT", rows.scope.text.shown(refusal.fact, where.place), hint=refusal.hint
        ) from refusal


def _group_columns(groups: Sequence[Typed]) -> list[Named]:
    """Let rows that are put aside say their group by its own name, where it is a column."""
    named: dict[str, Expr] = {}
    for place, group in enumerate(groups):
        held = group.expr.name if isinstance(group.expr, Column) else ""
        own = held and held not in SYSTEM_COLUMNS and held not in named
        named[held if own else f"{GROUP}{place}"] = group.expr
    return [Named(name, expr) for name, expr in named.items()]


def _as_groups(results: Relation, keys: tuple[str, ...]) -> Relation:
    """Give results whose groups are called by their number."""
    numbers = {key: f"{GROUP}{place}" for place, key in enumerate(keys)}
    if all(key == number for key, number in numbers.items()):
        return results
    names = results.schema.names
    columns = tuple(Named(numbers.get(name, name), Column(name)) for name in names)
    return Project(results, columns, "GROUP BY")


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
    where: Placed,
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
    exprs = [Named(column.name, column.expr) for column in given]
    shown = tuple(SourceColumn(column.name, column.type) for column in given)
    hidden = [GONE] if GONE in relation.schema.names else []
    if hidden and not where.table:
        # A stream says what is taken back: nothing is deleted from it.
        hidden = []
        exprs.append(Named(WEIGHT, weight()))
        columns.append(SourceColumn(WEIGHT, INT32))
        shown = (*shown, columns[-1])
    hidden += [] if resolver is None else list(where.bounds)
    passed = [Named(name, Column(name)) for name in hidden]
    project = Project(relation, (*exprs, *passed), "SELECT")
    ordered = (*(found[name] for name in held if name in found), *columns)
    return Result(
        project,
        ordered,
        rows,
        table=where.table,
        window=where.keys,
        shown=shown,
        retention=where.retention,
    )
