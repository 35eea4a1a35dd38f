from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import ModelError, SchemaError
from penstock.model.expr import Call, Cast, Column, Expr, Literal
from penstock.model.match import Match, Rows, Skip
from penstock.model.navigation import (
    Navigation,
    formula_of,
    formula_type,
    navigation_expr,
    navigation_of,
)
from penstock.model.pattern import Pattern
from penstock.model.pattern_condition import conjuncts, looks_back, settled
from penstock.model.pattern_part import (
    Absent,
    Gap,
    Hidden,
    InOrder,
    NotNext,
    OneOf,
    Part,
    PatternStep,
    Times,
    may_be_empty,
    size_of,
)
from penstock.model.pattern_words import condition_text, part_text, pattern_words
from penstock.model.source import Stream
from penstock.model.stateful_words import stateful_words
from penstock.model.stateless import Named
from penstock.schema.schema import Field, Schema
from penstock.schema.types import FLOAT64, INT32, INT64, STRING, TIMESTAMP, array_of

COLUMNS = Schema(
    (Field("user", STRING), Field("price", FLOAT64), Field("n", INT32), Field("at", TIMESTAMP))
)
MINUTE = timedelta(minutes=1)
HIGH = Call("gt", (Column("price"), Literal(1.0)))
A = PatternStep("a", HIGH)
B = PatternStep("b")
C = PatternStep("c", Call("lt", (Column("price"), Literal(0.0))))
LAST_PRICE = Navigation("last", ("a",), Column("price"))


def asked(navigation: Navigation) -> Expr:
    return navigation_expr(navigation)


def a_match(
    body: Part = A,
    *,
    measures: dict[str, Expr] | None = None,
    keys: tuple[str, ...] = ("user",),
    skip: Skip | None = None,
    rows: Rows = "one",
    within: timedelta | None = None,
    changelog: bool = False,
) -> Match:
    named = tuple(Named(name, expr) for name, expr in (measures or {}).items())
    stream = Stream("in", COLUMNS, changelog=changelog, site="shop.py:3")
    pattern = Pattern(body, within)
    return Match(stream, keys, pattern, named, skip or Skip(), rows, "shop.py:9")


def refusal(body: Part, within: timedelta | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        Pattern(body, within)
    return caught.value


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (Times(A, 0), "PATTERN_EMPTY"),
        (OneOf((A, Times(B, 0, 1))), "PATTERN_EMPTY"),
        (InOrder(()), "PATTERN_EMPTY"),
        (Times(A, -1, 2), "PATTERN_TIMES"),
        (Times(A, 3, 2), "PATTERN_TIMES"),
        (Times(A, 0, 0), "PATTERN_TIMES"),
        (PatternStep("two words"), "PATTERN_STEP_NAME"),
        (InOrder((A, PatternStep("a"))), "PATTERN_STEP_TWICE"),
        (InOrder((A, NotNext(PatternStep("a")), B)), "PATTERN_STEP_TWICE"),
        (InOrder((A, Absent(C), B)), "PATTERN_NEGATION"),
        (OneOf((A, InOrder((B, Absent(C))))), "PATTERN_NEGATION"),
        (InOrder((A, Absent(C))), "PATTERN_NEGATION"),
        (InOrder((A, Gap())), "PATTERN_ORDER"),
        (InOrder((Gap(), A)), "PATTERN_ORDER"),
        (OneOf((A, Gap())), "PATTERN_ORDER"),
        (Times(A, 2_000, 2_000), "PATTERN_SIZE"),
    ],
)
def test_a_pattern_that_makes_no_sense_is_refused(body: Part, code: str) -> None:
    assert refusal(body).code == code


def test_a_time_must_be_above_zero() -> None:
    assert refusal(A, timedelta(0)).code == "PATTERN_WITHIN"


def test_what_ends_with_a_step_that_does_not_come_needs_a_time() -> None:
    body = InOrder((A, Absent(C), Absent(PatternStep("d"))))
    assert "has no end" in refusal(body).fact
    assert Pattern(body, MINUTE).steps == (A,)
    nested = InOrder((A, InOrder((B, Absent(C)))))
    assert Pattern(nested, MINUTE).steps == (A, B)


@pytest.mark.parametrize(
    ("navigation", "code"),
    [
        (Navigation("last", ("d",), Column("price")), "PATTERN_STEP_MISSING"),
        (Navigation("last", ("a",), Column("price"), offset=-1), "PATTERN_REACH"),
        (Navigation("last", (), Column("price"), back=-1), "PATTERN_REACH"),
        (Navigation("last", ("a",), Column("price"), final=True), "PATTERN_REACH"),
        (Navigation("sum", ("c",), Column("price")), "PATTERN_STEP_MISSING"),
    ],
)
def test_a_condition_asks_for_rows_matched_so_far_only(navigation: Navigation, code: str) -> None:
    step = PatternStep("b", Call("gt", (Column("price"), asked(navigation))))
    assert refusal(InOrder((A, step))).code == code


def test_a_condition_has_no_number_of_its_match() -> None:
    step = PatternStep("b", Call("gt", (Column("n"), asked(Navigation("match_number")))))
    assert refusal(InOrder((A, step))).code == "PATTERN_REACH"


def test_a_misspelt_step_is_corrected() -> None:
    failed = PatternStep("failed", HIGH)
    step = PatternStep(
        "b", Call("gt", (Column("price"), asked(Navigation("last", ("faild",), Column("price")))))
    )
    assert refusal(InOrder((failed, step))).hint == 'Did you mean "failed"?'


def test_values_of_other_rows_are_expressions_and_can_be_read_back() -> None:
    for navigation in (
        LAST_PRICE,
        Navigation("count"),
        Navigation("first", ("a", "b"), Column("n"), 2, 1, final=True),
        Navigation("last", (), Column("n"), back=3),
    ):
        assert navigation_of(asked(navigation)) == navigation
    assert navigation_of(Column("price")) is None
    assert navigation_of(HIGH) is None
    formula = formula_of(Call("add", (asked(LAST_PRICE), asked(LAST_PRICE))))
    assert formula.navigations == (LAST_PRICE,)
    assert formula.plain == Call("add", (Column("_navigation_0"), Column("_navigation_0")))


@pytest.mark.parametrize(
    ("navigation", "type_"),
    [
        (LAST_PRICE, FLOAT64),
        (Navigation("count"), INT64),
        (Navigation("count", (), Column("user")), INT64),
        (Navigation("sum", (), Column("n")), INT64),
        (Navigation("avg", (), Column("n")), FLOAT64),
        (Navigation("max", (), Column("n")), INT32),
        (Navigation("collect_list", (), Column("user")), array_of(STRING)),
        (Navigation("classifier"), STRING),
        (Navigation("match_number"), INT64),
    ],
)
def test_values_of_other_rows_have_types(navigation: Navigation, type_: object) -> None:
    assert formula_type(asked(navigation), COLUMNS) == type_


def test_another_row_is_not_asked_for_what_yet_another_has() -> None:
    nested = Navigation("last", ("a",), asked(LAST_PRICE))
    with pytest.raises(ModelError, match="PATTERN_REACH"):
        formula_type(asked(nested), COLUMNS)


def test_functions_of_an_earlier_row_are_moved_to_that_row() -> None:
    lower = Call("lower", (asked(Navigation("last", ("a",), Column("user"))),))
    moved = Navigation("last", ("a",), Call("lower", (Column("user"),)))
    assert settled(lower, "b") == asked(moved)
    cast = Cast(asked(LAST_PRICE), INT64)
    assert settled(cast, "b") == asked(Navigation("last", ("a",), Cast(Column("price"), INT64)))
    own = Call("gt", (asked(LAST_PRICE), Literal(1.0)))
    assert settled(own, "a") == own


def test_what_the_row_itself_has_does_not_look_back() -> None:
    assert looks_back(LAST_PRICE, "b")
    assert not looks_back(LAST_PRICE, "a")
    assert not looks_back(Navigation("last", (), Column("n"), back=2), "a")
    assert looks_back(Navigation("last", (), Column("n"), offset=1), "a")
    assert looks_back(Navigation("count"), "a")
    assert list(conjuncts(Call("and", (HIGH, Call("and", (HIGH, HIGH)))))) == [HIGH] * 3


@pytest.mark.parametrize(
    "condition",
    [
        Call("concat", (asked(Navigation("last", ("a",), Column("user"))), Column("user"))),
        Call("sqrt", (asked(Navigation("sum", ("a",), Column("price"))),)),
        Cast(asked(Navigation("sum", ("a",), Column("price"))), INT64),
    ],
)
def test_few_functions_are_computed_of_several_rows(condition: Expr) -> None:
    compared = Call("is_null", (condition,))
    with pytest.raises(ModelError, match="PATTERN_FUNCTION"):
        a_match(InOrder((A, PatternStep("b", compared))))


def test_a_match_gives_its_keys_and_measures() -> None:
    one = a_match(measures={"last": asked(LAST_PRICE), "twice": Column("n")})
    assert one.schema.names == ("user", "last", "twice")
    assert one.reads == {"user", "price", "n"}
    everything = a_match(rows="all", measures={"count": asked(Navigation("count"))})
    assert everything.schema.names == (*COLUMNS.names, "count")
    assert everything.reads == set(COLUMNS.names)
    assert not one.retracts


def test_a_match_of_rows_that_may_be_taken_back_is_refused() -> None:
    with pytest.raises(ModelError, match="PATTERN_CHANGELOG"):
        a_match(changelog=True)


def test_a_match_must_give_something() -> None:
    with pytest.raises(ModelError, match="PATTERN_EMIT"):
        a_match(keys=())


def test_a_match_names_what_is_there() -> None:
    with pytest.raises(SchemaError, match=r'key "usr" does not exist .shop.py:9.'):
        a_match(keys=("usr",))
    with pytest.raises(ModelError, match="PATTERN_SKIP"):
        a_match(skip=Skip("first", "z"))
    with pytest.raises(ModelError, match="PATTERN_STEP_MISSING"):
        a_match(measures={"x": asked(Navigation("last", ("z",), Column("price")))})
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        a_match(PatternStep("a", Column("price")))
    with pytest.raises(SchemaError, match="COLUMN_TWICE"):
        a_match(measures={"user": Column("n")})
    with pytest.raises(ModelError, match="CONDITION_TYPE"):
        a_match(Times(A, 1, until=Column("price")))


def test_a_pattern_is_told_in_words() -> None:
    body = InOrder(
        (
            Times(A, 2, greedy=False, until=HIGH),
            Gap("others", (C,)),
            OneOf((B, Times(Hidden(B), 0, 1))),
            NotNext(C),
            Gap("any"),
            Times(B, 2, 3, apart=Gap()),
            Times(B, 4, 4),
            Absent(C),
        )
    )
    shape = (
        "a{2,}? until price > 1.0 .. !c (b | {- b -}?) !next c ... (b ..){2,3} b{4} !c within 1m"
    )
    assert list(pattern_words(Pattern(body, MINUTE))) == [
        shape,
        "a: price > 1.0",
        "c: price < 0.0",
    ]
    assert part_text(Times(A)) == "a+"
    words = stateful_words(a_match(measures={"last": asked(LAST_PRICE)}))
    assert words.details[-1] == (
        "gives a row for each match: last = last(a.price); then on from the row after the last"
    )
    for skip, text in (
        (Skip("next row"), "the next row"),
        (Skip("last", "a"), "the last row of a"),
    ):
        assert stateful_words(a_match(skip=skip)).details[-1].endswith(text)


@pytest.mark.parametrize(
    ("navigation", "text"),
    [
        (LAST_PRICE, "last(a.price)"),
        (Navigation("last", (), Column("price"), back=1), "prev(price)"),
        (
            Navigation("first", ("a", "b"), Column("n"), offset=2, back=3),
            "prev(first(a|b.n, 2), 3)",
        ),
        (Navigation("count", ("a",)), "count(a.*)"),
        (Navigation("classifier"), "classifier()"),
        (Navigation("max", (), Column("n"), final=True), "final max(n)"),
    ],
)
def test_values_of_other_rows_are_told_in_words(navigation: Navigation, text: str) -> None:
    assert condition_text(asked(navigation)) == text


def test_parts_know_their_size() -> None:
    assert size_of(InOrder((A, Gap(), Times(OneOf((A, B)), 1, 3)))) == 8
    assert size_of(Times(A, 2)) == 3
    assert not may_be_empty(Hidden(A))
    assert may_be_empty(Times(Times(A, 0), 2))
