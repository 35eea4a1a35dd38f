"""Questions made at random, as our SQL says them and as DuckDB does."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

_STREAM = ("n", "k", "g", "v")
_TABLE = ("k", "h", "w")
_NUMBERS = {"v", "g", "h", "w", "n"}


@dataclass(frozen=True)
class Question:
    """One question in both languages; `ordered` rows must come in the same order."""

    ours: str
    theirs: str
    ordered: bool


def random_question(random: Random) -> Question:
    """Make a question of two sources: `s`, a stream, and `t`, a table."""
    kind = random.choice([_plain, _plain, _grouped, _grouped, _joined, _joined, _united, _over])
    return kind(random)


def random_rows(random: Random) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Make the rows of `s` and of `t`, which has no key twice."""
    keys = ["a", "b", "c", "d", "e"]

    def number() -> int | None:
        return random.choice([None, random.randint(-3, 9), random.randint(-3, 9)])

    stream = [(n, random.choice(keys), number(), number()) for n in range(random.randint(0, 14))]
    table = [(key, number(), number()) for key in random.sample(keys, random.randint(0, 5))]
    return list(stream), list(table)


def _condition(random: Random, columns: list[str]) -> str:
    numbers = [column for column in columns if column.rpartition(".")[2] in _NUMBERS]
    column = random.choice(numbers)
    simple = [
        f"{column} {random.choice(['<', '<=', '>', '>=', '=', '<>'])} {random.randint(-2, 8)}",
        f"{column} IS {random.choice(['', 'NOT '])}NULL",
        f"{column} BETWEEN {random.randint(-2, 3)} AND {random.randint(3, 9)}",
        f"{column} IN ({random.randint(-1, 3)}, {random.randint(3, 9)})",
        f"{random.choice(numbers)} + 1 > {column}",
    ]
    one = random.choice(simple)
    if random.random() < 0.4:
        other = random.choice(simple)
        # What is compared with null is false in ksqlDB, and so in ours: NOT would tell.
        return f"({one} {random.choice(['AND', 'OR'])} {other})"
    return one


def _where(random: Random, columns: list[str]) -> str:
    return f" WHERE {_condition(random, columns)}" if random.random() < 0.6 else ""


def _tail(random: Random, width: int) -> tuple[str, bool]:
    """Give an ORDER BY all columns, in any order of them, with a LIMIT."""
    if random.random() < 0.4:
        return "", False
    places = random.sample(range(1, width + 1), width)
    nulls = ["", "", " NULLS FIRST", " NULLS LAST"]
    order = ", ".join(
        f"{place}{random.choice(['', ' ASC', ' DESC'])}{random.choice(nulls)}" for place in places
    )
    limit = f" LIMIT {random.randint(0, 6)}" if random.random() < 0.5 else ""
    return f" ORDER BY {order}{limit}", True


def _items(random: Random, columns: list[str]) -> str:
    chosen = random.sample(columns, random.randint(1, len(columns)))
    return ", ".join(f"{column} AS c{place}" for place, column in enumerate(chosen))


def _source(random: Random) -> tuple[str, list[str]]:
    """Give one source, or a query as one, and its columns."""
    if random.random() < 0.5:
        return ("s", list(_STREAM)) if random.random() < 0.6 else ("t", list(_TABLE))
    columns = list(_STREAM)
    return f"(SELECT n, k, g, v * 2 AS v FROM s{_where(random, columns)}) q", columns


def _plain(random: Random) -> Question:
    source, columns = _source(random)
    items = _items(random, columns)
    distinct = random.choice(["", "DISTINCT "])
    tail, ordered = _tail(random, items.count(" AS "))
    text = f"SELECT {distinct}{items} FROM {source}{_where(random, columns)}{tail};"
    return Question(text, text, ordered)


def _grouped(random: Random) -> Question:
    source, columns = _source(random)
    numbers = [column for column in columns if column in _NUMBERS]
    keys = random.sample(columns, random.randint(0, 2))
    value = random.choice(numbers)
    folds = random.sample(["SUM", "COUNT", "MIN", "MAX", "COUNT_DISTINCT"], random.randint(1, 3))
    ours, theirs = list(keys), list(keys)
    for place, fold in enumerate(folds):
        ours.append(f"{fold}({value}) AS m{place}")
        theirs.append(f"{_their_fold(fold, value)} AS m{place}")
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    having = f" HAVING COUNT(*) > {random.randint(0, 2)}" if random.random() < 0.4 else ""
    tail, ordered = _tail(random, len(ours))
    rest = f" FROM {source}{_where(random, columns)}{group}{having}{tail};"
    return Question(f"SELECT {', '.join(ours)}{rest}", f"SELECT {', '.join(theirs)}{rest}", ordered)


def _their_fold(fold: str, value: str) -> str:
    if fold == "COUNT_DISTINCT":
        return f"COUNT(DISTINCT {value})"
    return f"COALESCE(SUM({value}), 0)" if fold == "SUM" else f"{fold}({value})"


def _joined(random: Random) -> Question:
    columns = [*(f"a.{name}" for name in _STREAM), *(f"b.{name}" for name in _TABLE)]
    how = random.choice(["", "INNER ", "LEFT ", "RIGHT ", "FULL OUTER "])
    on = random.choice(["a.k = b.k", "b.k = a.k", "a.g = b.h", "a.v + 1 = b.w"])
    if random.random() < 0.4:
        on += f" AND {_condition(random, columns)}"
    items = _items(random, columns)
    tail, ordered = _tail(random, items.count(" AS "))
    where = _where(random, columns)
    text = f"SELECT {items} FROM s a {how}JOIN t b ON {on}{where}{tail};"
    return Question(text, text, ordered)


def _united(random: Random) -> Question:
    keep = random.choice(["UNION", "UNION ALL", "UNION DISTINCT"])
    theirs = keep.replace(" DISTINCT", "")
    first = f"SELECT k, v AS x FROM s{_where(random, list(_STREAM))}"
    second = f"SELECT k, w AS x FROM t{_where(random, list(_TABLE))}"
    tail, ordered = _tail(random, 2)
    if random.random() < 0.5:
        start, end = "WITH u AS (", ") SELECT k, x FROM u"
    else:
        start, end = "", ""
    return Question(
        f"{start}{first} {keep} {second}{end}{tail};",
        f"{start}{first} {theirs} {second}{end}{tail};",
        ordered,
    )


def _over(random: Random) -> Question:
    part = random.choice(["", "PARTITION BY k ", "PARTITION BY g "])
    order = f"ORDER BY n{random.choice(['', ' DESC'])}"
    size = random.randint(0, 3)
    frames = [
        "",
        f" ROWS BETWEEN {size} PRECEDING AND CURRENT ROW",
        f" ROWS BETWEEN {size} PRECEDING AND {random.randint(0, 2)} FOLLOWING",
        " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
        f" RANGE BETWEEN {size} PRECEDING AND CURRENT ROW",
        " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    ]
    window = f"({part}{order}{random.choice(frames)})"
    plain = f"({part}{order})"
    calls = random.sample(
        [
            (f"SUM(v) OVER {window}", f"COALESCE(SUM(v) OVER {window}, 0)"),
            (f"COUNT(v) OVER {window}",) * 2,
            (f"MIN(v) OVER {window}",) * 2,
            (f"MAX(v) OVER {window}",) * 2,
            (f"FIRST_VALUE(v) OVER {window}",) * 2,
            (f"LAST_VALUE(v) OVER {window}",) * 2,
            (f"ROW_NUMBER() OVER {plain}",) * 2,
            (f"RANK() OVER ({part}ORDER BY g)",) * 2,
            (f"DENSE_RANK() OVER ({part}ORDER BY g DESC)",) * 2,
            (f"NTILE(3) OVER {plain}",) * 2,
            (f"LAG(v, 2, 0) OVER {plain}",) * 2,
            (f"LEAD(v) OVER {plain}",) * 2,
        ],
        3,
    )
    ours = ", ".join(f"{call[0]} AS w{place}" for place, call in enumerate(calls))
    theirs = ", ".join(f"{call[1]} AS w{place}" for place, call in enumerate(calls))
    rest = f" FROM s{_where(random, list(_STREAM))} ORDER BY n;"
    return Question(f"SELECT n, {ours}{rest}", f"SELECT n, {theirs}{rest}", ordered=True)
