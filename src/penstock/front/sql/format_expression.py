"""Expressions as SQL text, with brackets only where the order needs them."""

from __future__ import annotations

from penstock.front.sql.format_name import (
    format_duration,
    format_name,
    format_names,
    format_text,
    format_type,
)
from penstock.front.sql.tree import Duration
from penstock.front.sql.tree_expression import (
    Arithmetic,
    ArrayValue,
    AtTimeZone,
    Between,
    BooleanLiteral,
    Call,
    Case,
    Cast,
    Column,
    Comparison,
    DecimalLiteral,
    DoubleLiteral,
    Expression,
    FieldAccess,
    Frame,
    FrameBound,
    InList,
    IntegerLiteral,
    IsDistinct,
    IsNull,
    Lambda,
    Like,
    Literals,
    Logical,
    MapValue,
    Negative,
    Not,
    NullLiteral,
    Over,
    SortItem,
    StringLiteral,
    StructValue,
    Subscript,
    TypedLiteral,
)

# How tightly things bind, as in the rules of the grammar.
_ANY, _OR, _AND, _NOT, _VALUE, _SUM, _PRODUCT, _SIGNED, _ZONED, _PRIMARY = range(10)
_STRENGTH = {"||": _VALUE, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT}


def format_expression(expression: Expression) -> str:
    """Write an expression."""
    return _text(expression)


def format_value(expression: Expression) -> str:
    """Write an expression for a place that takes no bare condition, such as GROUP BY."""
    return _within(expression, _VALUE)


def format_values(expressions: tuple[Expression, ...]) -> str:
    """Write expressions with commas where no bare condition is taken."""
    return ", ".join(map(format_value, expressions))


def format_expressions(expressions: tuple[Expression, ...]) -> str:
    """Write expressions with commas."""
    return ", ".join(map(format_expression, expressions))


def format_literal(literal: Literals) -> str:
    """Write a constant."""
    match literal:
        case NullLiteral():
            return "NULL"
        case BooleanLiteral(value) | IntegerLiteral(value):
            return str(value).upper()
        case DecimalLiteral(text):
            return text
        case DoubleLiteral(value):
            return _double(value)
        case StringLiteral(text):
            return format_text(text)
        case TypedLiteral(kind, text):
            return f"{format_name(kind)} {format_text(text)}"


def format_sort_items(items: tuple[SortItem, ...]) -> str:
    """Write what ORDER BY names."""
    return ", ".join(map(_sort_item, items))


def _within(expression: Expression, strength: int) -> str:
    text = _text(expression)
    return text if _strength(expression) >= strength else f"({text})"


def _strength(expression: Expression) -> int:  # noqa: PLR0911  # one a kind
    match expression:
        case Logical(operator):
            return _OR if operator == "OR" else _AND
        case Not() | Comparison() | Between() | InList() | Like() | IsNull() | IsDistinct():
            return _NOT
        case Arithmetic(operator):
            return _STRENGTH[operator]
        case AtTimeZone():
            return _ZONED
        case Negative():
            return _SIGNED
        case IntegerLiteral() | DecimalLiteral() | DoubleLiteral():
            return _SIGNED if format_literal(expression).startswith("-") else _PRIMARY
        case _:
            return _PRIMARY


def _text(expression: Expression) -> str:
    match expression:
        case Logical(operator, operands):
            strength = _AND if operator == "OR" else _NOT
            return f" {operator} ".join(_within(part, strength) for part in operands)
        case Arithmetic(operator, left, right):
            strength = _STRENGTH[operator]
            return f"{_within(left, strength)} {operator} {_within(right, strength + 1)}"
        case Negative(operand):
            text = _within(operand, _SIGNED)
            # Two signs side by side would begin a comment.
            return f"-({text})" if text.startswith("-") else f"-{text}"
        case AtTimeZone(operand, zone):
            return f"{_within(operand, _ZONED)} AT TIME ZONE {format_text(zone)}"
        case Not() | Comparison() | Between() | InList() | Like() | IsNull() | IsDistinct():
            return _condition(expression)
        case _:
            return _primary(expression)


def _condition(
    expression: Not | Comparison | Between | InList | Like | IsNull | IsDistinct,
) -> str:
    match expression:
        case Not(operand):
            return f"NOT {_within(operand, _NOT)}"
        case Comparison(operator, left, right):
            return f"{format_value(left)} {operator} {format_value(right)}"
        case Between(operand, low, high, negated):
            bounds = f"{format_value(low)} AND {format_value(high)}"
            return f"{format_value(operand)}{_not(negated=negated)} BETWEEN {bounds}"
        case InList(operand, items, negated):
            listed = format_expressions(items)
            return f"{format_value(operand)}{_not(negated=negated)} IN ({listed})"
        case _:
            return _tested(expression)


def _tested(expression: Like | IsNull | IsDistinct) -> str:
    match expression:
        case Like(operand, pattern, escape, negated):
            end = "" if escape is None else f" ESCAPE {format_text(escape)}"
            words = f"{_not(negated=negated)} LIKE {format_value(pattern)}{end}"
            return f"{format_value(operand)}{words}"
        case IsNull(operand, negated):
            return f"{format_value(operand)} IS{_not(negated=negated)} NULL"
        case IsDistinct(left, right, negated):
            words = f"IS{_not(negated=negated)} DISTINCT FROM"
            return f"{format_value(left)} {words} {format_value(right)}"


def _not(*, negated: bool) -> str:
    return " NOT" if negated else ""


def _primary(expression: Expression) -> str:
    match expression:
        case Column(name, source):
            before = "" if source is None else f"{format_name(source)}."
            return f"{before}{format_name(name)}"
        case FieldAccess(base, name):
            return f"{_within(base, _PRIMARY)}->{format_name(name)}"
        case Subscript(base, index):
            return f"{_within(base, _PRIMARY)}[{format_value(index)}]"
        case Call() | Over():
            return _call(expression) if isinstance(expression, Call) else _over(expression)
        case Case():
            return _case(expression)
        case _:
            return _constructed(expression)


def _constructed(expression: Expression) -> str:
    match expression:
        case Cast(operand, kind):
            return f"CAST({_text(operand)} AS {format_type(kind)})"
        case ArrayValue(items):
            return f"ARRAY[{format_expressions(items)}]"
        case MapValue(entries):
            listed = (f"{_text(entry.key)} := {_text(entry.value)}" for entry in entries)
            return f"MAP({', '.join(listed)})"
        case StructValue(fields):
            listed = (f"{format_name(it.name)} := {_text(it.value)}" for it in fields)
            return f"STRUCT({', '.join(listed)})"
        case (
            NullLiteral()
            | BooleanLiteral()
            | IntegerLiteral()
            | DecimalLiteral()
            | DoubleLiteral()
            | StringLiteral()
            | TypedLiteral()
        ):
            return format_literal(expression)
        case _:
            return f"({_text(expression)})"


def _call(call: Call) -> str:
    listed = "*" if call.star else ", ".join(map(_argument, call.arguments))
    made = f"{format_name(call.function)}({'DISTINCT ' if call.distinct else ''}{listed})"
    return made if call.where is None else f"{made} FILTER (WHERE {_text(call.where)})"


def _argument(argument: Expression | Lambda) -> str:
    if not isinstance(argument, Lambda):
        return _text(argument)
    names = format_names(argument.parameters)
    before = names if len(argument.parameters) == 1 else f"({names})"
    return f"{before} => {_text(argument.body)}"


def _over(over: Over) -> str:
    parts = []
    if over.partition_by:
        parts.append(f"PARTITION BY {format_values(over.partition_by)}")
    if over.order_by:
        parts.append(f"ORDER BY {format_sort_items(over.order_by)}")
    if over.frame is not None:
        parts.append(_frame(over.frame))
    return f"{_call(over.call)} OVER ({' '.join(parts)})"


def _frame(frame: Frame) -> str:
    return f"{frame.by.upper()} BETWEEN {_bound(frame.start)} AND {_bound(frame.end)}"


def _bound(bound: FrameBound) -> str:
    if bound.side == "current row":
        return "CURRENT ROW"
    amount = "UNBOUNDED" if bound.amount is None else str(bound.amount)
    if isinstance(bound.amount, Duration):
        amount = format_duration(bound.amount)
    return f"{amount} {bound.side.upper()}"


def _sort_item(item: SortItem) -> str:
    direction = " DESC" if item.descending else ""
    nulls = "" if item.nulls is None else f" NULLS {item.nulls.upper()}"
    return f"{_text(item.expression)}{direction}{nulls}"


def _case(case: Case) -> str:
    operand = "" if case.operand is None else f" {format_value(case.operand)}"
    whens = "".join(f" WHEN {_text(it.condition)} THEN {_text(it.result)}" for it in case.whens)
    otherwise = "" if case.otherwise is None else f" ELSE {_text(case.otherwise)}"
    return f"CASE{operand}{whens}{otherwise} END"


def _double(value: float) -> str:
    digits, _, exponent = repr(value).partition("e")
    return f"{digits}E{int(exponent or 0)}"
