from __future__ import annotations

import pytest

from penstock.errors import SqlError
from penstock.front.sql.parse import parse_expression
from penstock.front.sql.tree import ArrayType, MapType, Name, NamedType, StructField, StructType
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
    Logical,
    MapEntry,
    MapValue,
    Negative,
    Not,
    NullLiteral,
    Over,
    SortItem,
    StringLiteral,
    StructEntry,
    StructValue,
    Subscript,
    TypedLiteral,
    When,
)

A, B, C, D = (Column(Name(letter)) for letter in "ABCD")
ONE, TWO = IntegerLiteral(1), IntegerLiteral(2)
INT = NamedType(Name("INT"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NULL", NullLiteral()),
        ("true", BooleanLiteral(value=True)),
        ("False", BooleanLiteral(value=False)),
        ("1", ONE),
        ("-1", IntegerLiteral(-1)),
        ("+1", ONE),
        ("007", IntegerLiteral(7)),
        ("9223372036854775807", IntegerLiteral(2**63 - 1)),
        ("-9223372036854775808", IntegerLiteral(-(2**63))),
        ("1.0", DecimalLiteral("1.0")),
        (".5", DecimalLiteral(".5")),
        ("1.", DecimalLiteral("1.")),
        ("-2.50", DecimalLiteral("-2.50")),
        ("1E0", DoubleLiteral(1.0)),
        ("1.5e-3", DoubleLiteral(0.0015)),
        ("-.5E+1", DoubleLiteral(-5.0)),
        ("'it''s'", StringLiteral("it's")),
        ("''", StringLiteral("")),
        ("DATE '2020-01-01'", TypedLiteral(Name("DATE"), "2020-01-01")),
        ("TIME '12:00'", TypedLiteral(Name("TIME"), "12:00")),
    ],
)
def test_constants_are_told_apart_by_their_spelling(text: str, expected: Expression) -> None:
    assert parse_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("total", Column(Name("TOTAL"))),
        ("`total`", Column(Name("total"))),
        ('"to""tal"', Column(Name('to"tal'))),
        ("`a``b`", Column(Name("a`b"))),
        ("o.total", Column(Name("TOTAL"), Name("O"))),
        ("2fast", Column(Name("2FAST"))),
        ("a@b", Column(Name("A@B"))),
        ("key", Column(Name("KEY"))),
        ("emit", Column(Name("EMIT"))),
        ("a.b.c", FieldAccess(Column(Name("B"), Name("A")), Name("C"))),
        ("a->b->c", FieldAccess(FieldAccess(A, Name("B")), Name("C"))),
        ("a.b->c", FieldAccess(Column(Name("B"), Name("A")), Name("C"))),
        ("a[1]['k']", Subscript(Subscript(A, ONE), StringLiteral("k"))),
        ("f(a)->b", FieldAccess(Call(Name("F"), (A,)), Name("B"))),
    ],
)
def test_names_are_in_capitals_unless_they_are_quoted(text: str, expected: Expression) -> None:
    assert parse_expression(text) == expected


def test_whether_a_name_was_quoted_is_kept() -> None:
    plain, quoted = parse_expression("a"), parse_expression("`A`")
    assert isinstance(plain, Column)
    assert isinstance(quoted, Column)
    assert (plain.name.quoted, quoted.name.quoted) == (False, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * c", Arithmetic("+", A, Arithmetic("*", B, C))),
        ("a - b - c", Arithmetic("-", Arithmetic("-", A, B), C)),
        ("(a - b) / c % d", Arithmetic("%", Arithmetic("/", Arithmetic("-", A, B), C), D)),
        ("a || b + c", Arithmetic("||", A, Arithmetic("+", B, C))),
        ("-a * b", Arithmetic("*", Negative(A), B)),
        ("a -1", Arithmetic("-", A, ONE)),
        ("- -1", Negative(IntegerLiteral(-1))),
        ("a AT TIME ZONE 'UTC'", AtTimeZone(A, "UTC")),
        ("-a AT TIME ZONE 'UTC'", Negative(AtTimeZone(A, "UTC"))),
        ("a <> b", Comparison("<>", A, B)),
        ("a != b", Comparison("<>", A, B)),
        ("a + b >= c", Comparison(">=", Arithmetic("+", A, B), C)),
        ("a AND b AND c", Logical("AND", (A, B, C))),
        ("a OR b AND c", Logical("OR", (A, Logical("AND", (B, C))))),
        ("(a OR b) AND c", Logical("AND", (Logical("OR", (A, B)), C))),
        ("a AND (b AND c)", Logical("AND", (A, Logical("AND", (B, C))))),
        ("NOT a = b AND c", Logical("AND", (Not(Comparison("=", A, B)), C))),
        ("a BETWEEN 1 AND 2 AND b", Logical("AND", (Between(A, ONE, TWO), B))),
        ("a NOT BETWEEN 1 AND 2", Between(A, ONE, TWO, negated=True)),
        ("a IN (1, b)", InList(A, (ONE, B))),
        ("a NOT IN (1)", InList(A, (ONE,), negated=True)),
        ("a LIKE b", Like(A, B)),
        ("a NOT LIKE 'x!%' ESCAPE '!'", Like(A, StringLiteral("x!%"), "!", negated=True)),
        ("a IS NULL", IsNull(A)),
        ("a IS NOT NULL", IsNull(A, negated=True)),
        ("a IS DISTINCT FROM b", IsDistinct(A, B)),
        ("a IS NOT DISTINCT FROM b", IsDistinct(A, B, negated=True)),
    ],
)
def test_operators_bind_as_in_ksql(text: str, expected: Expression) -> None:
    assert parse_expression(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f()", Call(Name("F"))),
        ("count(*)", Call(Name("COUNT"), star=True)),
        ("count(DISTINCT a)", Call(Name("COUNT"), (A,), distinct=True)),
        ("f(a, 1)", Call(Name("F"), (A, ONE))),
        ("f(HOURS, 1)", Call(Name("F"), (Column(Name("HOURS")), ONE))),
        ("replace(a, b)", Call(Name("REPLACE"), (A, B))),
        ("f(a, b => b)", Call(Name("F"), (A, Lambda((Name("B"),), B)))),
        ("f(a, (b) => b)", Call(Name("F"), (A, Lambda((Name("B"),), B)))),
        ("f((b))", Call(Name("F"), (B,))),
        (
            "f(a, ( b , `c` ) => b + 1)",
            Call(Name("F"), (A, Lambda((Name("B"), Name("c")), Arithmetic("+", B, ONE)))),
        ),
        ("CASE a WHEN 1 THEN b END", Case((When(ONE, B),), A)),
        (
            "CASE WHEN a THEN b WHEN c THEN d ELSE 1 END",
            Case((When(A, B), When(C, D)), None, ONE),
        ),
        ("ARRAY[]", ArrayValue(())),
        ("array[a, 1]", ArrayValue((A, ONE))),
        ("MAP()", MapValue(())),
        ("MAP(a := 1, b := 2)", MapValue((MapEntry(A, ONE), MapEntry(B, TWO)))),
        ("STRUCT(x := a)", StructValue((StructEntry(Name("X"), A),))),
        ("CAST(a AS int)", Cast(A, INT)),
        (
            "CAST(a AS DECIMAL(4, 2))",
            Cast(A, NamedType(Name("DECIMAL"), (4, 2))),
        ),
        ("CAST(a AS VARCHAR(STRING))", Cast(A, NamedType(Name("VARCHAR"), ("STRING",)))),
        ("CAST(a AS ARRAY<ARRAY<INT>>)", Cast(A, ArrayType(ArrayType(INT)))),
        ("CAST(a AS INT ARRAY)", Cast(A, ArrayType(INT))),
        ("CAST(a AS MAP<STRING, INT>)", Cast(A, MapType(NamedType(Name("STRING")), INT))),
        ("CAST(a AS STRUCT<>)", Cast(A, StructType(()))),
        (
            "CAST(a AS STRUCT<`x` INT, array INT>)",
            Cast(A, StructType((StructField(Name("x"), INT), StructField(Name("ARRAY"), INT)))),
        ),
    ],
)
def test_calls_cases_casts_and_made_values(text: str, expected: Expression) -> None:
    assert parse_expression(text) == expected


def test_a_call_may_look_at_the_rows_around() -> None:
    text = """SUM(a) OVER (PARTITION BY b ORDER BY c DESC NULLS LAST
        ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)"""
    frame = Frame("rows", FrameBound("preceding", 3), FrameBound("current row"))
    order = (SortItem(C, descending=True, nulls="last"),)
    assert parse_expression(text) == Over(Call(Name("SUM"), (A,)), (B,), order, frame)
    assert parse_expression("COUNT(*) OVER ()") == Over(Call(Name("COUNT"), star=True))


def test_every_node_knows_where_it_stands() -> None:
    text = "a + f(b, 'x')"
    made = parse_expression(text)
    assert isinstance(made, Arithmetic)
    assert text[made.right.span.start : made.right.span.end] == "f(b, 'x')"
    assert isinstance(made.right, Call)
    places = [text[it.span.start : it.span.end] for it in made.right.arguments]
    assert places == ["b", "'x'"]


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "1E999", "-9223372036854775809", "9" * 9999]
)
def test_a_number_beyond_its_type_is_refused(text: str) -> None:
    with pytest.raises(SqlError, match="SQL_NUMBER"):
        parse_expression(text)


@pytest.mark.parametrize("text", ["a = b = c", "a +", "f(a,)", "(a", "a b", "", "NOT", "a IN ()"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(SqlError, match="SQL_SYNTAX"):
        parse_expression(text)
