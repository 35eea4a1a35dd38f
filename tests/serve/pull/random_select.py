"""SELECTs made at random over a stream, a table, a typed topic and a compacted one."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

COLUMNS = {
    "s": ("n", "k", "g", "v"),
    "t": ("k", "h", "w"),
    "e": ("id", "k", "x"),
    "c": ("k", "z"),
}
NUMBERS = ("n", "g", "v", "h", "w", "id", "x", "z")


@dataclass(frozen=True)
class Select:
    """A SELECT; `ordered` rows come in one order only."""

    text: str
    ordered: bool


def random_select(random: Random) -> Select:
    """Make one."""
    kind = random.choice(
        [_plain, _grouped, _sets, _joined, _joined, _united, _over, _inner, _with, _recursive]
    )
    text, width = kind(random)
    if random.random() < 0.4:
        return Select(text, ordered=False)
    places = random.sample(range(1, width + 1), width)
    words = ["", " ASC", " DESC", " NULLS FIRST", " DESC NULLS LAST"]
    order = ", ".join(f"{place}{random.choice(words)}" for place in places)
    limit = f" LIMIT {random.randint(0, 9)}" if random.random() < 0.5 else ""
    offset = f" OFFSET {random.randint(0, 4)}" if random.random() < 0.4 else ""
    return Select(f"SELECT * FROM ({text}) AS q ORDER BY {order}{limit}{offset}", ordered=True)


def _condition(random: Random, columns: list[str]) -> str:
    numbers = [name for name in columns if name.rpartition(".")[2] in NUMBERS]
    one = random.choice(numbers)
    made = [
        f"{one} {random.choice(['<', '<=', '>', '=', '<>'])} {random.randint(-3, 9)}",
        f"{one} IS {random.choice(['', 'NOT '])}NULL",
        f"{one} BETWEEN {random.randint(-3, 2)} AND {random.randint(2, 9)}",
        f"NOT ({one} IN ({random.randint(-2, 3)}, {random.randint(3, 9)}))",
        f"coalesce({one}, 0) + {random.randint(-2, 2)} > {random.choice(numbers)}",
    ]
    first, second = random.sample(made, 2)
    return f"({first} {random.choice(['AND', 'OR'])} {second})" if random.random() < 0.4 else first


def _where(random: Random, columns: list[str]) -> str:
    return f" WHERE {_condition(random, columns)}" if random.random() < 0.6 else ""


def _items(random: Random, columns: list[str]) -> tuple[str, int]:
    chosen = random.sample(columns, random.randint(1, len(columns)))
    shown = [
        random.choice([name, name, f"CASE WHEN {_condition(random, columns)} THEN {name} END"])
        for name in chosen
    ]
    return ", ".join(f"{text} AS c{at}" for at, text in enumerate(shown)), len(shown)


def _source(random: Random) -> tuple[str, list[str]]:
    name = random.choice(list(COLUMNS))
    return name, list(COLUMNS[name])


def _plain(random: Random) -> tuple[str, int]:
    source, columns = _source(random)
    items, width = _items(random, columns)
    distinct = random.choice(["", "DISTINCT "])
    return f"SELECT {distinct}{items} FROM {source}{_where(random, columns)}", width


def _folds(random: Random, columns: list[str]) -> list[str]:
    value = random.choice([name for name in columns if name.rpartition(".")[2] in NUMBERS])
    folds = [
        f"sum({value})",
        f"count({value})",
        "count(*)",
        f"min({value})",
        f"max({value})",
        f"count(DISTINCT {value})",
        f"sum({value}) FILTER (WHERE {_condition(random, columns)})",
        f"list_sort(list({value}))",
    ]
    return random.sample(folds, random.randint(1, 3))


def _grouped(random: Random) -> tuple[str, int]:
    source, columns = _source(random)
    keys = random.sample(columns, random.randint(0, 2))
    shown = [*keys, *_folds(random, columns)]
    items = ", ".join(f"{text} AS c{at}" for at, text in enumerate(shown))
    group = f" GROUP BY {', '.join(keys)}" if keys else ""
    having = f" HAVING count(*) > {random.randint(0, 2)}" if random.random() < 0.4 else ""
    return f"SELECT {items} FROM {source}{_where(random, columns)}{group}{having}", len(shown)


def _sets(random: Random) -> tuple[str, int]:
    how = random.choice(["ROLLUP (k, g)", "CUBE (k, g)", "GROUPING SETS ((k), (g), ())"])
    folds = _folds(random, list(COLUMNS["s"]))
    items = ", ".join(f"{fold} AS m{at}" for at, fold in enumerate(folds))
    return f"SELECT k, g, {items} FROM s GROUP BY {how}", 2 + len(folds)


def _joined(random: Random) -> tuple[str, int]:
    first, second = random.choices(list(COLUMNS), k=2)
    columns = [
        *(f"a.{name}" for name in COLUMNS[first]),
        *(f"b.{name}" for name in COLUMNS[second]),
    ]
    how = random.choice(["", "LEFT ", "RIGHT ", "FULL OUTER "])
    on = "a.k = b.k"
    if random.random() < 0.4:
        on += f" AND {_condition(random, columns)}"
    items, width = _items(random, columns)
    text = f"SELECT {items} FROM {first} a {how}JOIN {second} b ON {on}{_where(random, columns)}"
    return text, width


def _united(random: Random) -> tuple[str, int]:
    word = random.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "EXCEPT ALL"])
    parts = []
    for _ in range(2):
        source, columns = _source(random)
        number = random.choice([name for name in columns if name in NUMBERS])
        parts.append(f"SELECT k, {number}::BIGINT AS x FROM {source}{_where(random, columns)}")
    return f" {word} ".join(parts), 2


def _over(random: Random) -> tuple[str, int]:
    part = random.choice(["", "PARTITION BY k ", "PARTITION BY g "])
    order = f"ORDER BY n{random.choice(['', ' DESC'])}"
    size = random.randint(0, 3)
    frame = random.choice(
        [
            "",
            f" ROWS BETWEEN {size} PRECEDING AND CURRENT ROW",
            " ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
            f" RANGE BETWEEN {size} PRECEDING AND CURRENT ROW",
        ]
    )
    calls = [
        f"sum(v) OVER ({part}{order}{frame})",
        f"max(v) OVER ({part}{order}{frame})",
        f"row_number() OVER ({part}{order})",
        f"rank() OVER ({part}ORDER BY g)",
        f"lag(v, 2, 0) OVER ({part}{order})",
        f"first_value(v) OVER ({part}{order}{frame})",
    ]
    chosen = random.sample(calls, 2)
    qualify = " QUALIFY row_number() OVER (PARTITION BY k ORDER BY n) < 3"
    tail = qualify if random.random() < 0.3 else ""
    return f"SELECT n, {chosen[0]} AS a, {chosen[1]} AS b FROM s{tail}", 3


def _inner(random: Random) -> tuple[str, int]:
    columns = list(COLUMNS["s"])
    word = random.choice(["", "NOT "])
    where = _where(random, list(COLUMNS["t"]))
    forms = [
        f"SELECT n, k FROM s WHERE k {word}IN (SELECT k FROM t{where})",
        f"SELECT n, k FROM s WHERE {word}EXISTS (SELECT 1 FROM e WHERE e.k = s.k AND e.x > s.v)",
        "SELECT n, (SELECT max(x) FROM e WHERE e.k = s.k) AS best FROM s",
        f"SELECT k, v FROM s WHERE v > (SELECT avg(v) FROM s{_where(random, columns)})",
    ]
    return random.choice(forms), 2


def _with(random: Random) -> tuple[str, int]:
    text, width = random.choice([_plain, _grouped, _joined])(random)
    return f"WITH a AS ({text}), b AS (SELECT count(*) AS n FROM a) SELECT a.*, b.n FROM a, b", (
        width + 1
    )


def _recursive(random: Random) -> tuple[str, int]:
    steps = random.randint(1, 5)
    return (
        "WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i <"
        f" {steps}) SELECT i, count(x) AS m FROM r LEFT JOIN e ON e.x = r.i GROUP BY i",
        2,
    )
