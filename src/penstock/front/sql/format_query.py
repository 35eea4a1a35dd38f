"""Queries as SQL text, a line for each clause."""

from __future__ import annotations

from penstock.front.sql.format_emit import format_emit, format_window
from penstock.front.sql.format_expression import (
    format_expression,
    format_literal,
    format_sort_items,
    format_values,
)
from penstock.front.sql.format_name import format_duration, format_name, format_text
from penstock.front.sql.format_pattern import format_match
from penstock.front.sql.tree_expression import Expression
from penstock.front.sql.tree_query import (
    Aliased,
    AsOf,
    FileSource,
    Join,
    Matched,
    Property,
    Query,
    QueryBody,
    Relation,
    Select,
    SelectAll,
    Selected,
    SelectFields,
    SelectItem,
    Source,
    Start,
    Subquery,
    Union,
    Within,
    WithinWindow,
)


def format_query(query: Query) -> str:
    """Write a query."""
    lines = []
    if query.common:
        common = (f"{format_name(it.name)} AS ({format_query(it.query)})" for it in query.common)
        lines.append(f"WITH {', '.join(common)}")
    lines.append(_body(query.body, query.start if query.emit is None else None))
    if query.order_by:
        lines.append(f"ORDER BY {format_sort_items(query.order_by)}")
    if query.top is not None:
        lines.append(f"LIMIT {query.top.count} BY {_grouping(query.top.keys)}")
    if query.emit is not None:
        lines.append(format_emit(query.emit))
        lines += [] if query.start is None else [_start(query.start)]
    if query.limit is not None:
        lines.append(f"LIMIT {query.limit}")
    return "\n".join(lines)


def format_properties(properties: tuple[Property, ...]) -> str:
    """Write what stands in the brackets of WITH, with them."""
    listed = (f"{_property_name(it.name)} = {format_literal(it.value)}" for it in properties)
    return f"({', '.join(listed)})"


def _property_name(name: str) -> str:
    plain = name.isascii() and name.isidentifier() and name == name.upper()
    return name if plain else format_text(name)


def _body(body: QueryBody, start: Start | None = None) -> str:
    match body:
        case Select():
            return _select(body, start)
        case Subquery(query):
            return f"({format_query(query)})"
        case Union(left, right, keep_all):
            word = "UNION ALL" if keep_all else "UNION"
            return f"{_body(left)}\n{word}\n{_body(right)}"


def _select(select: Select, start: Start | None) -> str:
    words = "SELECT DISTINCT" if select.distinct else "SELECT"
    lines = [f"{words} {', '.join(map(_selected, select.items))}"]
    if select.relation is not None:
        lines.append(f"FROM {_relation(select.relation)}")
    if start is not None:
        lines.append(_start(start))
    if select.window is not None:
        lines.append(f"WINDOW {format_window(select.window)}")
    if select.where is not None:
        lines.append(f"WHERE {format_expression(select.where)}")
    if select.group_by is not None:
        lines.append(f"GROUP BY {_grouping(select.group_by)}")
    if select.partition_by is not None:
        lines.append(f"PARTITION BY {_grouping(select.partition_by)}")
    if select.having is not None:
        lines.append(f"HAVING {format_expression(select.having)}")
    return "\n".join(lines)


def _selected(item: Selected) -> str:
    match item:
        case SelectAll(source):
            return "*" if source is None else f"{format_name(source)}.*"
        case SelectFields(base):
            return f"{format_expression(base)}->*"
        case SelectItem(expression, alias):
            named = "" if alias is None else f" AS {format_name(alias)}"
            return f"{format_expression(expression)}{named}"


def _grouping(keys: tuple[Expression, ...]) -> str:
    return format_values(keys) if keys else "()"


def _start(start: Start) -> str:
    if start.at == "time":
        return f"FROM {format_text(str(start.value))}"
    return f"FROM OFFSET {start.value}" if start.at == "offset" else f"FROM {start.at.upper()}"


def _relation(relation: Relation) -> str:
    match relation:
        case Source(name, part):
            return format_name(name) if part is None else f"{format_name(name)}.{format_name(part)}"
        case FileSource(path, properties):
            said = f" WITH {format_properties(properties)}" if properties else ""
            return f"{format_text(path)}{said}"
        case Subquery(query):
            return f"({format_query(query)})"
        case Matched(inner, match):
            return f"{_relation(inner)} MATCH_RECOGNIZE ({format_match(match)})"
        case Aliased(inner, alias):
            return f"{_relation(inner)} AS {format_name(alias)}"
        case Join():
            return _join(relation)


def _join(join: Join) -> str:
    kind = "" if join.how == "inner" else f"{join.how.upper()} "
    word = "ASOF JOIN" if isinstance(join.bound, AsOf) else "JOIN"
    bound = "" if join.bound is None else _bound(join.bound)
    sides = f"{_relation(join.left)}\n{kind}{word} {_relation(join.right)}"
    return f"{sides}{bound} ON {format_expression(join.on)}"


def _bound(bound: Within | WithinWindow | AsOf) -> str:
    match bound:
        case Within(before, after, grace):
            times = format_duration(before)
            if before != after:
                times = f"({times}, {format_duration(after)})"
            late = "" if grace is None else f" GRACE PERIOD {format_duration(grace)}"
            return f" WITHIN {times}{late}"
        case WithinWindow(window):
            return f" WITHIN {format_window(window)}"
        case AsOf(by, answer, keep):
            said = "" if answer == "at once" else f" {answer.upper()}"
            kept = "" if keep is None else f" KEEP {format_duration(keep)}"
            return f" BY {by.upper()}{said}{kept}"
