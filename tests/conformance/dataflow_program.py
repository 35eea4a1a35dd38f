"""The programs of the facts: rows with a key, a value and a time, aggregated in one way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.model.aggregate import Aggregate
from penstock.model.expr import Call, Column, Expr, Literal
from penstock.model.measure import Measure
from penstock.model.plan import Plan, Sink
from penstock.model.refine import Refinement
from penstock.model.relation import Relation
from penstock.model.source import Stream
from penstock.model.stateless import Filter
from penstock.model.trigger import Trigger
from penstock.model.watermark import Punctuated
from penstock.model.window import Window
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT64, STRING, Type
from tests.conformance.dataflow_words import GAP, ORDER, VALUE
from tests.conformance.engine import INPUT, OUTPUT, SAYS, Row

KEY = "key"
TIME = "time"
CLOCK = "proc_time"
ONLY_KEY = "key"

_COMPARISONS = {">": "gt", "<": "lt", ">=": "ge", "<=": "le", "=": "eq", "==": "eq", "!=": "ne"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """Where, when and how; `aggregate` says what, in the words of the facts."""

    window: Window | None
    trigger: Trigger | None = None
    refinement: Refinement = field(default_factory=Refinement)
    aggregate: str = "sum"
    having: str = ""
    keys: tuple[str, ...] = (KEY,)

    def plan(self, values: Iterable[Any]) -> Plan:
        """Give the program for rows with such values."""
        return plan_of(self.relation(source(type_of(values))), self.having)

    def relation(self, stream: Relation) -> Aggregate:
        """Give the aggregate over a stream."""
        kind = stream.schema.field(VALUE).type
        return Aggregate(
            stream,
            self.keys,
            measures_of(self.aggregate, kind),
            self.window,
            self.trigger,
            self.refinement,
        )


def plan_of(relation: Relation, having: str = "") -> Plan:
    """Give the program that writes a relation, or those rows of it that are wanted."""
    wanted = Filter(relation, condition(having)) if having else relation
    return Plan("conformance", (Sink(wanted, OUTPUT),))


def source(kind: Type, *more: Field) -> Stream:
    """Give the stream all programs read. Its watermark is moved by hand."""
    columns = (
        Field(KEY, STRING),
        Field(VALUE, kind),
        Field(TIME, INT64),
        Field(CLOCK, INT64),
        Field(GAP, INT64),
        Field(ORDER, INT64),
        Field(SAYS, INT64),
        *more,
    )
    said = Call("is_not_null", (Column(SAYS),))
    by_hand = Punctuated(SAYS, said, idle=None, max_ahead=None)
    return Stream(INPUT, Schema(columns), event_time=TIME, watermark=by_hand)


def row(key: object, value: object, time: int | None, **more: object) -> Row:
    """Give a row of that stream."""
    return {KEY: str(key), VALUE: value, TIME: time, **more}


def numbered(rows: Sequence[Row], begin: int) -> list[Row]:
    """Number rows in the order of their arrival."""
    return [{**item, ORDER: begin + place} for place, item in enumerate(rows)]


def type_of(values: Iterable[Any]) -> Type:
    """Give the type that holds all the values."""
    found = list(values)
    if found and not all(isinstance(value, int | float) for value in found):
        return STRING
    return FLOAT64 if any(isinstance(value, float) for value in found) else INT64


def measures_of(text: str, kind: Type) -> tuple[Measure, ...]:
    """Read what is computed; the result is the column `value`, further ones by their names."""
    value = Column(VALUE)
    measures = [_main(text, kind, value)]
    for function, column in re.findall(r"\b(max|min|sum)\((\w+)\)", text):
        measures.append(Measure(f"{function}_{column}", function, (Column(column),)))
    return tuple(measures)


def _main(text: str, kind: Type, value: Expr) -> Measure:
    words = re.sub(r"\w+\(\w+\)", "", text).lower()
    named: Mapping[str, str] = {
        "list": "collect_list",
        "count": "count",
        "max": "max",
        "min": "min",
        "average": "avg",
        "avg": "avg",
        "mean": "avg",
    }
    for word, function in named.items():
        if re.search(rf"\b{word}", words):
            arguments = () if function == "count" else (value,)
            return Measure(VALUE, function, arguments)  # type: ignore[arg-type]
    return Measure(VALUE, "sum" if kind.numeric else "collect_list", (value,))


def condition(text: str) -> Expr:
    """Read a comparison of a column with a number."""
    column, sign, number = text.split()
    constant = float(number) if "." in number else int(number)
    return Call(_COMPARISONS[sign], (Column(column), Literal(constant)))
