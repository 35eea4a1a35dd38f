"""Expressions: values computed of a row, of a group of rows, or of nothing."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from penstock.front.sql.tree import Duration, Name, Node, SqlType


@dataclass(frozen=True, slots=True)
class NullLiteral(Node):
    """NULL."""


@dataclass(frozen=True, slots=True)
class BooleanLiteral(Node):
    """TRUE or FALSE."""

    value: bool


@dataclass(frozen=True, slots=True)
class IntegerLiteral(Node):
    """A whole number of 64 bits; one that fits 32 is an INTEGER, another a BIGINT."""

    value: int


@dataclass(frozen=True, slots=True)
class DecimalLiteral(Node):
    """An exact number with a point, with its digits as they were written: 1.50 is not 1.5."""

    text: str

    @property
    def value(self) -> Decimal:
        """The number, with its scale."""
        return Decimal(self.text)


@dataclass(frozen=True, slots=True)
class DoubleLiteral(Node):
    """A number with an exponent: 1E0."""

    value: float


@dataclass(frozen=True, slots=True)
class StringLiteral(Node):
    """Text in single quotes, without them."""

    value: str


@dataclass(frozen=True, slots=True)
class TypedLiteral(Node):
    """A type's name before a text: DATE '2020-01-01'."""

    type: Name
    text: str


Literals: TypeAlias = (
    NullLiteral
    | BooleanLiteral
    | IntegerLiteral
    | DecimalLiteral
    | DoubleLiteral
    | StringLiteral
    | TypedLiteral
)


@dataclass(frozen=True, slots=True)
class Column(Node):
    """A column, of a source by its name or alias where one is given: `o.total`.

    Two more things look like this: a unit of time (`HOURS`) as the argument of a function, and
    the field of a struct by a point (`address.county`) where no source has the first name.
    """

    name: Name
    source: Name | None = None


@dataclass(frozen=True, slots=True)
class FieldAccess(Node):
    """A part of a struct: `base->name`; `a.b.c` is a part of the column `a.b`."""

    base: Expression
    name: Name


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """An item of an array or of a map: `base[index]`."""

    base: Expression
    index: Expression


@dataclass(frozen=True, slots=True)
class Lambda(Node):
    """A function without a name, as the argument of another: `(a, b) => body`."""

    parameters: tuple[Name, ...]
    body: Expression


@dataclass(frozen=True, slots=True)
class Call(Node):
    """A function of arguments; `f(*)` has none and `star`, `f(DISTINCT x)` is `distinct`.

    `f(x) FILTER (WHERE condition)` is an aggregate of the rows `where` it holds.
    """

    function: Name
    arguments: tuple[Expression | Lambda, ...] = ()
    star: bool = False
    distinct: bool = False
    where: Expression | None = None


@dataclass(frozen=True, slots=True)
class SortItem(Node):
    """A key of ORDER BY; `nulls` is none where it was not said."""

    expression: Expression
    descending: bool = False
    nulls: Literal["first", "last"] | None = None


@dataclass(frozen=True, slots=True)
class FrameBound(Node):
    """Where the frame of OVER begins or ends; no `amount` is UNBOUNDED, or the current row."""

    side: Literal["preceding", "current row", "following"]
    amount: int | Duration | None = None


@dataclass(frozen=True, slots=True)
class Frame(Node):
    """Which rows around a row count: ROWS or RANGE BETWEEN start AND end."""

    by: Literal["rows", "range"]
    start: FrameBound
    end: FrameBound


@dataclass(frozen=True, slots=True)
class Over(Node):
    """A call over the rows around a row: `call OVER (PARTITION BY ... ORDER BY ...)`."""

    call: Call
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Negative(Node):
    """Unary minus; that of a number is part of the literal."""

    operand: Expression


ArithmeticOperator: TypeAlias = Literal["+", "-", "*", "/", "%", "||"]


@dataclass(frozen=True, slots=True)
class Arithmetic(Node):
    """Two values calculated with; `||` puts texts together."""

    operator: ArithmeticOperator
    left: Expression
    right: Expression


ComparisonOperator: TypeAlias = Literal["=", "<>", "<", "<=", ">", ">="]


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """Two values compared."""

    operator: ComparisonOperator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """Two or more conditions: `a AND b AND c` has three operands."""

    operator: Literal["AND", "OR"]
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """NOT operand."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Between(Node):
    """Operand [NOT] BETWEEN low AND high, both included."""

    operand: Expression
    low: Expression
    high: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class InList(Node):
    """Operand [NOT] IN (items)."""

    operand: Expression
    items: tuple[Expression, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Like(Node):
    """Operand [NOT] LIKE pattern [ESCAPE 'c']."""

    operand: Expression
    pattern: Expression
    escape: str | None = None
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsNull(Node):
    """Operand IS [NOT] NULL."""

    operand: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class IsDistinct(Node):
    """Left IS [NOT] DISTINCT FROM right: compared as if null were a value."""

    left: Expression
    right: Expression
    negated: bool = False


@dataclass(frozen=True, slots=True)
class AtTimeZone(Node):
    """Operand AT TIME ZONE 'zone'."""

    operand: Expression
    zone: str


@dataclass(frozen=True, slots=True)
class When(Node):
    """WHEN condition THEN result."""

    condition: Expression
    result: Expression


@dataclass(frozen=True, slots=True)
class Case(Node):
    """CASE [operand] WHEN ... [ELSE otherwise] END; with an operand, conditions are values."""

    whens: tuple[When, ...]
    operand: Expression | None = None
    otherwise: Expression | None = None


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """CAST(operand AS type)."""

    operand: Expression
    type: SqlType


@dataclass(frozen=True, slots=True)
class ArrayValue(Node):
    """ARRAY[items]."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class MapEntry(Node):
    """Key := value."""

    key: Expression
    value: Expression


@dataclass(frozen=True, slots=True)
class MapValue(Node):
    """MAP(key := value, ...)."""

    entries: tuple[MapEntry, ...]


@dataclass(frozen=True, slots=True)
class StructEntry(Node):
    """Name := value."""

    name: Name
    value: Expression


@dataclass(frozen=True, slots=True)
class StructValue(Node):
    """STRUCT(name := value, ...)."""

    entries: tuple[StructEntry, ...]


Expression: TypeAlias = (
    Literals
    | Column
    | FieldAccess
    | Subscript
    | Call
    | Over
    | Negative
    | Arithmetic
    | Comparison
    | Logical
    | Not
    | Between
    | InList
    | Like
    | IsNull
    | IsDistinct
    | AtTimeZone
    | Case
    | Cast
    | ArrayValue
    | MapValue
    | StructValue
)
