from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Duration, Name, Span
from penstock.front.sql.tree_expression import Column, DecimalLiteral, Expression, IntegerLiteral


def test_where_something_stands_makes_no_difference() -> None:
    assert Column(Name("A"), span=Span(3, 4)) == Column(Name("A", span=Span(7, 8)))
    assert hash(Column(Name("A"), span=Span(3, 4))) == hash(Column(Name("A")))


def test_quotes_around_a_name_make_no_difference_once_it_is_read() -> None:
    assert Name("A", quoted=True) == Name("A")
    assert Name("a", quoted=True) != Name("A")


def test_a_decimal_keeps_its_digits() -> None:
    assert DecimalLiteral("1.50") != DecimalLiteral("1.5")
    assert DecimalLiteral("1.50").value.as_tuple() == Decimal("1.50").as_tuple()


def test_a_duration_knows_how_long_it_is() -> None:
    assert Duration(90, "second").delta == timedelta(minutes=1, seconds=30)


def test_nodes_can_be_taken_apart_by_their_fields() -> None:
    found: Expression = Column(Name("A"), Name("T"))
    match found:
        case Column(Name(name), Name(source)):
            assert (name, source) == ("A", "T")
        case _:
            pytest.fail("a column is a column")


def test_a_text_knows_the_line_and_column_of_a_place() -> None:
    text = SourceText("ab\ncd", first_line=4, first_column=3)
    assert text.place(1) == (4, 4)
    assert text.place(4) == (5, 2)


def test_a_text_underlines_a_span_under_its_tabs() -> None:
    assert SourceText("x\n\tab c\ny").underlined(Span(3, 5)) == "\tab c\n\t^^"


def test_a_span_over_several_lines_is_underlined_on_its_first() -> None:
    assert SourceText("ab c\nd").underlined(Span(3, 6)) == "ab c\n   ^"


def test_of_a_long_line_the_part_around_the_span_is_shown() -> None:
    shown = SourceText("a" * 200 + "b" + "c" * 200).underlined(Span(200, 201))
    line, mark = shown.split("\n")
    assert line == f"...{'a' * 80}b{'c' * 79}..."
    assert line[mark.index("^")] == "b"


def test_a_fact_is_shown_with_its_place() -> None:
    text = SourceText("SELECT x")
    assert text.shown("no such thing", Span(7, 8)) == (
        "line 1, column 8: no such thing\nSELECT x\n       ^"
    )
    assert IntegerLiteral(1).span == Span(0, 0)
