from __future__ import annotations

import pytest

from penstock.errors import SqlError
from penstock.front.sql import tree_emit as emit
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.tree import Duration, Name
from penstock.front.sql.tree_expression import (
    Call,
    Column,
    Comparison,
    DecimalLiteral,
    IntegerLiteral,
    SortItem,
    StringLiteral,
)
from penstock.front.sql.tree_pattern import (
    MatchClause,
    PatternChoice,
    PatternDefinition,
    PatternGap,
    PatternHidden,
    PatternMeasure,
    PatternNot,
    PatternPart,
    PatternRepeat,
    PatternSequence,
    PatternSkip,
    PatternVariable,
)
from penstock.front.sql.tree_query import (
    Aliased,
    AsOf,
    CommonTable,
    FileSource,
    Join,
    Matched,
    Property,
    Query,
    Relation,
    Select,
    SelectAll,
    SelectFields,
    SelectItem,
    Source,
    Start,
    Subquery,
    Top,
    Union,
    Within,
    WithinWindow,
)
from penstock.front.sql.tree_statement import QueryStatement
from penstock.front.sql.tree_window import (
    DeltaSize,
    PunctuationSize,
    RowsSize,
    Window,
)

A, B, X = (Column(Name(letter)) for letter in "ABX")
ALL = (SelectAll(),)
T, U = Source(Name("T")), Source(Name("U"))
ON = Comparison("=", Column(Name("A"), Name("T")), Column(Name("A"), Name("U")))
MINUTE, HOUR = Duration(1, "minute"), Duration(1, "hour")


def query(text: str) -> Query:
    statement = parse_statement(text)
    assert isinstance(statement, QueryStatement)
    return statement.query


def select(text: str) -> Select:
    body = query(text).body
    assert isinstance(body, Select)
    return body


def test_what_is_selected() -> None:
    found = select("SELECT *, t.*, s->*, a, a AS x, b key FROM t").items
    assert found == (
        SelectAll(),
        SelectAll(Name("T")),
        SelectFields(Column(Name("S"))),
        SelectItem(A),
        SelectItem(A, Name("X")),
        SelectItem(B, Name("KEY")),
    )


def test_the_clauses_of_a_select() -> None:
    text = "SELECT DISTINCT a FROM t WHERE x = 1 GROUP BY a, b PARTITION BY b HAVING COUNT(*) > 1"
    assert select(text) == Select(
        (SelectItem(A),),
        T,
        where=Comparison("=", X, IntegerLiteral(1)),
        group_by=(A, B),
        partition_by=(B,),
        having=Comparison(">", Call(Name("COUNT"), star=True), IntegerLiteral(1)),
        distinct=True,
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("a, b", (A, B)), ("(a, b)", (A, B)), ("(a)", (A,)), ("()", ())]
)
def test_groups_may_stand_in_brackets(text: str, expected: tuple[Column, ...]) -> None:
    assert select(f"SELECT a FROM t GROUP BY {text}").group_by == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("t", T),
        ("t x", Aliased(T, Name("X"))),
        ("t AS x", Aliased(T, Name("X"))),
        ("t emit", Aliased(T, Name("EMIT"))),
        ("t.late l", Aliased(Source(Name("T"), Name("LATE")), Name("L"))),
        ("'a.jsonl'", FileSource("a.jsonl")),
        (
            "'a' WITH (format='CSV') x",
            Aliased(FileSource("a", (Property("FORMAT", StringLiteral("CSV")),)), Name("X")),
        ),
        ("(SELECT * FROM t) x", Aliased(Subquery(Query(Select(ALL, T))), Name("X"))),
        ("t JOIN u ON t.a = u.a", Join(T, U, "inner", ON)),
        ("t INNER JOIN u ON t.a = u.a", Join(T, U, "inner", ON)),
        ("t LEFT OUTER JOIN u ON t.a = u.a", Join(T, U, "left", ON)),
        ("t RIGHT JOIN u ON t.a = u.a", Join(T, U, "right", ON)),
        ("t FULL OUTER JOIN u ON t.a = u.a", Join(T, U, "full", ON)),
        ("t SEMI JOIN u ON t.a = u.a", Join(T, U, "semi", ON)),
        ("t LEFT ANTI JOIN u ON t.a = u.a", Join(T, U, "anti", ON)),
        (
            "t JOIN u WITHIN 1 MINUTE ON t.a = u.a",
            Join(T, U, "inner", ON, Within(MINUTE, MINUTE)),
        ),
        (
            "t JOIN u WITHIN (1 MINUTE, 1 HOUR) GRACE PERIOD 1 HOUR ON t.a = u.a",
            Join(T, U, "inner", ON, Within(MINUTE, HOUR, HOUR)),
        ),
        (
            "t JOIN u WITHIN TUMBLING (SIZE 1 HOUR) ON t.a = u.a",
            Join(T, U, "inner", ON, WithinWindow(Window("tumbling", HOUR))),
        ),
        ("t ASOF JOIN u ON t.a = u.a", Join(T, U, "inner", ON, AsOf())),
        (
            "t LEFT ASOF JOIN u BY EVENT TIME WAITING KEEP 1 HOUR ON t.a = u.a",
            Join(T, U, "left", ON, AsOf("event time", "waiting", HOUR)),
        ),
        (
            "t ASOF LEFT JOIN u BY ARRIVAL ON t.a = u.a",
            Join(T, U, "left", ON, AsOf("arrival")),
        ),
        (
            "t JOIN u ON t.a = u.a JOIN v ON t.a = u.a",
            Join(Join(T, U, "inner", ON), Source(Name("V")), "inner", ON),
        ),
    ],
)
def test_what_is_selected_from(text: str, expected: Relation) -> None:
    assert select(f"SELECT * FROM {text} WHERE TRUE").relation == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("TUMBLING (SIZE 1 MINUTE)", Window("tumbling", MINUTE)),
        ("w TUMBLING (SIZE 1 MINUTE)", Window("tumbling", MINUTE, name=Name("W"))),
        (
            "TUMBLING (SIZE 1 MINUTES, RETENTION 1 HOUR, GRACE PERIOD 1 HOUR)",
            Window("tumbling", MINUTE, retention=HOUR, grace=HOUR),
        ),
        (
            "HOPPING (SIZE 1 HOUR, ADVANCE BY 1 MINUTE)",
            Window("hopping", HOUR, MINUTE),
        ),
        ("SESSION (1 MINUTE)", Window("session", gap=MINUTE)),
        (
            "SESSION (GAP x, MAX SIZE 1 HOUR, BY PROCESSING TIME)",
            Window("session", gap=X, max_size=HOUR, domain="processing"),
        ),
        ("SLIDING (SIZE 1 HOUR)", Window("sliding", HOUR)),
        (
            "SLIDING (SIZE 9 ROWS, ADVANCE BY 3 ROWS, FULL ONLY)",
            Window("sliding", RowsSize(9), RowsSize(3), full_only=True),
        ),
        (
            "TUMBLING (SIZE 2.5 OF x)",
            Window("tumbling", DeltaSize(DecimalLiteral("2.5"), Name("X"))),
        ),
        (
            "TUMBLING (UNTIL x = 1)",
            Window("tumbling", PunctuationSize(Comparison("=", X, IntegerLiteral(1)))),
        ),
        (
            "TUMBLING (SIZE 1 HOUR, OFFSET -1 MINUTE)",
            Window("tumbling", HOUR, offset=Duration(-1, "minute")),
        ),
        ("GLOBAL", Window("global")),
    ],
)
def test_windows(text: str, expected: Window) -> None:
    assert select(f"SELECT * FROM t WINDOW {text} GROUP BY a").window == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CHANGES", emit.Emit("changes")),
        ("FINAL", emit.Emit("final")),
        ("RETRACTING", emit.Emit("retracting")),
        ("EACH ROW", emit.Emit(trigger=emit.EachRow())),
        ("EACH ROW WHERE x", emit.Emit(trigger=emit.EachRow(X))),
        ("EACH BATCH", emit.Emit(trigger=emit.EachBatch())),
        ("EVERY 3 ROWS", emit.Emit(trigger=emit.EveryRows(3))),
        ("EVERY 1 MINUTE", emit.Emit(trigger=emit.EveryPeriod(MINUTE))),
        ("EVERY 1 HOUR OFFSET 1 MINUTE", emit.Emit(trigger=emit.EveryPeriod(HOUR, MINUTE))),
        (
            "EVERY 1 HOUR OF EVENT TIME",
            emit.Emit(trigger=emit.EveryPeriod(HOUR, event_time=True)),
        ),
        ("AFTER 3 ROWS", emit.Emit(trigger=emit.AfterRows(3))),
        ("AFTER 1 MINUTE", emit.Emit(trigger=emit.AfterDelay(MINUTE))),
        ("AFTER ROW WHERE x", emit.Emit(trigger=emit.AfterRow(X))),
        ("AFTER WATERMARK", emit.Emit(trigger=emit.AfterWatermark())),
        ("WHEN COMPLETE", emit.Emit(trigger=emit.WhenComplete())),
        ("ALWAYS", emit.Emit(trigger=emit.Always())),
        ("NEVER", emit.Emit(trigger=emit.Never())),
        ("REPEAT (AFTER 3 ROWS)", emit.Emit(trigger=emit.Repeat(emit.AfterRows(3)))),
        (
            "ANY OF (NEVER, ALL OF (ALWAYS), SEQUENCE (NEVER, ALWAYS))",
            emit.Emit(
                trigger=emit.Several(
                    "any",
                    (
                        emit.Never(),
                        emit.Several("all", (emit.Always(),)),
                        emit.Several("sequence", (emit.Never(), emit.Always())),
                    ),
                )
            ),
        ),
        (
            "EACH ROW UNTIL AFTER 3 ROWS",
            emit.Emit(trigger=emit.Until(emit.EachRow(), emit.AfterRows(3))),
        ),
        (
            "RETRACTING WHEN CLOSED, EARLY EVERY 1 MINUTE, LATE EACH ROW",
            emit.Emit("retracting", emit.WhenClosed(), emit.EveryPeriod(MINUTE), emit.EachRow()),
        ),
        (
            "DISCARDING LATE EACH ROW, KEEP LATE 1 HOUR, STAMP EARLIEST, NO EMPTY ON TIME, "
            "EMPTY FINAL",
            emit.Emit(
                "discarding",
                late=emit.EachRow(),
                keep_late=HOUR,
                stamp="earliest",
                empty_on_time=False,
                empty_final=True,
            ),
        ),
    ],
)
def test_when_results_are_given_out(text: str, expected: emit.Emit) -> None:
    assert query(f"SELECT * FROM t EMIT {text}").emit == expected
    assert query(f"SELECT * FROM t EMIT {text} LIMIT 3").limit == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM BEGINNING", Start("beginning")),
        ("FROM LATEST", Start("latest")),
        ("FROM '2024-01-01'", Start("time", "2024-01-01")),
        ("FROM OFFSET 12", Start("offset", 12)),
    ],
)
def test_where_reading_begins(text: str, expected: Start) -> None:
    assert query(f"SELECT * FROM t {text} WHERE x").start == expected
    assert query(f"SELECT * FROM t WHERE x EMIT CHANGES {text} LIMIT 3").start == expected


def test_queries_are_put_together() -> None:
    text = """WITH c AS (SELECT * FROM t)
        SELECT * FROM c UNION ALL SELECT * FROM u UNION (SELECT * FROM t LIMIT 1)
        ORDER BY a, b DESC NULLS FIRST LIMIT 3 BY a EMIT CHANGES LIMIT 9"""
    first = Union(Select(ALL, Source(Name("C"))), Select(ALL, U), keep_all=True)
    assert query(text) == Query(
        Union(first, Subquery(Query(Select(ALL, T), limit=1))),
        (CommonTable(Name("C"), Query(Select(ALL, T))),),
        (SortItem(A), SortItem(B, descending=True, nulls="first")),
        Top(3, (A,)),
        emit.Emit("changes"),
        None,
        9,
    )


def pattern(text: str) -> PatternPart:
    found = select(f"SELECT * FROM t MATCH_RECOGNIZE (PATTERN ({text}))").relation
    assert isinstance(found, Matched)
    return found.match.pattern


a, b, c = (PatternVariable(Name(letter)) for letter in "ABC")
OTHERS, ANY = PatternGap("others"), PatternGap("any")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", a),
        ("a b", PatternSequence((a, b))),
        ("a | b c", PatternChoice((a, PatternSequence((b, c))))),
        ("(a | b) c", PatternSequence((PatternChoice((a, b)), c))),
        ("a -> b => c", PatternSequence((a, OTHERS, b, ANY, c))),
        ("(a) => b", PatternSequence((a, ANY, b))),
        ("a*", PatternRepeat(a, 0)),
        ("a+?", PatternRepeat(a, 1, greedy=False)),
        ("a??", PatternRepeat(a, 0, 1, greedy=False)),
        ("a{2}", PatternRepeat(a, 2, 2)),
        ("a{2,}", PatternRepeat(a, 2)),
        ("a{,3}", PatternRepeat(a, 0, 3)),
        ("(a b){2,3}", PatternRepeat(PatternSequence((a, b)), 2, 3)),
        ("a+ WITH GAPS UNTIL (x)", PatternRepeat(a, 1, gaps=True, until=X)),
        ("{- a -} b", PatternSequence((PatternHidden(a), b))),
        ("a NOT b", PatternSequence((a, PatternNot(Name("B"))))),
        ("a -> NOT b -> c", PatternSequence((a, OTHERS, PatternNot(Name("B")), OTHERS, c))),
    ],
)
def test_patterns(text: str, expected: PatternPart) -> None:
    assert pattern(text) == expected


def test_the_whole_of_match_recognize() -> None:
    text = """SELECT * FROM t MATCH_RECOGNIZE (
        PARTITION BY x ORDER BY ROWTIME
        MEASURES FIRST(a) AS low, FINAL LAST(b) AS high
        ALL ROWS PER MATCH AFTER MATCH SKIP TO LAST b
        PATTERN (a b) WITHIN 1 HOUR DEFINE b AS TRUE = x) AS m"""
    clause = MatchClause(
        PatternSequence((a, b)),
        (PatternDefinition(Name("B"), select("SELECT TRUE = x").items[0].expression),),  # type: ignore[union-attr]
        (
            PatternMeasure(Call(Name("FIRST"), (A,)), Name("LOW")),
            PatternMeasure(Call(Name("LAST"), (B,)), Name("HIGH"), final=True),
        ),
        (X,),
        (SortItem(Column(Name("ROWTIME"))),),
        "all",
        PatternSkip("last", Name("B")),
        HOUR,
    )
    assert select(text).relation == Aliased(Matched(T, clause), Name("M"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT * FROM t WINDOW TUMBLING (SIZE 1 DAY, SIZE 1 DAY)", "said twice"),
        ("SELECT * FROM t EMIT NEVER, ALWAYS", "said twice"),
        ("SELECT * FROM t EMIT EACH ROW, EARLY NEVER", "WHEN CLOSED"),
        ("SELECT * FROM t FROM LATEST EMIT CHANGES FROM BEGINNING", "said twice"),
        ("SELECT * FROM t FROM LATEST UNION SELECT * FROM u", "UNION"),
        ("SELECT * FROM t LEFT ASOF LEFT JOIN u ON t.a = u.a", "said twice"),
    ],
)
def test_clauses_that_contradict_one_another_are_refused(text: str, said: str) -> None:
    with pytest.raises(SqlError, match="SQL_CLAUSE") as caught:
        parse_statement(text)
    assert said in caught.value.fact
    assert "^" in caught.value.fact


def test_a_duration_that_cannot_be_counted_is_refused() -> None:
    with pytest.raises(SqlError, match="SQL_NUMBER"):
        parse_statement("SELECT * FROM t WINDOW TUMBLING (SIZE 999999999999 DAYS)")
