"""Want 16: five tables joined on foreign keys, under random updates, are what a batch gives."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from tests.sql.kit import opened, rows, told

SIDES = ("b", "c", "d", "e")
_TABLE = "WITH (KAFKA_TOPIC='{0}', VALUE_FORMAT='JSON', PARTITIONS=2)"
_STATEMENTS = (
    "CREATE TABLE a (id STRING PRIMARY KEY, b_id STRING, c_id STRING, d_id STRING, e_id STRING)"
    f" {_TABLE.format('a')};",
    *(
        f"CREATE TABLE {side} (id STRING PRIMARY KEY, v INT) {_TABLE.format(side)};"
        for side in SIDES
    ),
)


def joined(kinds: dict[str, str]) -> str:
    joins = " ".join(f"{kinds[side]} JOIN {side} ON a.{side}_id = {side}.id" for side in SIDES)
    columns = ", ".join(f"{side}.v AS {side}_v" for side in SIDES)
    return f"CREATE TABLE all_of AS SELECT a.id, {columns} FROM a {joins};"


def changes(random: Random, count: int) -> list[tuple[str, str, dict[str, object] | None]]:
    """Rows that come, change and go, in tables and for keys at random."""
    made: list[tuple[str, str, dict[str, object] | None]] = []
    for _ in range(count):
        table = random.choice(("a", "a", *SIDES))
        key = f"{table}{random.randrange(4)}"
        if random.random() < 0.2:
            made.append((table, key, None))
        elif table == "a":
            row: dict[str, object] = {
                f"{side}_id": random.choice([None, *(f"{side}{n}" for n in range(4))])
                for side in SIDES
            }
            made.append((table, key, row))
        else:
            made.append((table, key, {"v": random.randrange(100)}))
    return made


def batch_answer(
    made: list[tuple[str, str, dict[str, object] | None]], kinds: dict[str, str]
) -> list[tuple[object, ...]]:
    tables: dict[str, dict[object, dict[str, object]]] = {name: {} for name in ("a", *SIDES)}
    for table, key, row in made:
        tables[table].pop(key, None)
        if row is not None:
            tables[table][key] = row
    found = []
    for key_of_a, row_of_a in tables["a"].items():
        others = {side: tables[side].get(row_of_a[f"{side}_id"]) for side in SIDES}
        if all(others[side] is not None or kinds[side] == "LEFT" for side in SIDES):
            values = [None if other is None else other["v"] for other in others.values()]
            found.append((key_of_a, *values))
    return sorted(found, key=str)


@pytest.mark.parametrize("seed", range(2))
def test_a_join_of_five_tables_is_what_a_batch_gives(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 300))
def test_200_joins_of_five_tables_are_what_a_batch_gives(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


def check(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    kinds = {side: random.choice(("LEFT", "INNER")) for side in SIDES}
    made = changes(random, 40)
    with opened(tmp_path, here=True) as session:
        for statement in (*_STATEMENTS, joined(kinds)):
            told(session, statement)
        done = 0
        while done < len(made):
            piece = made[done : done + random.randrange(1, 25)]
            _append(tmp_path, piece, random)
            done += len(piece)
            session.catch_up()
            found = sorted(rows(session, "SELECT * FROM all_of;"), key=str)
            assert found == batch_answer(made[:done], kinds)


def _append(
    home: Path, made: list[tuple[str, str, dict[str, object] | None]], random: Random
) -> None:
    with open_log(home) as log:
        for table, key, row in made:
            value = None if row is None else json.dumps(row).encode()
            records = rows_of_bytes([value], keys=[key.encode()], timestamps=[random.randrange(9)])
            log.append(table, int(key[1:]) % 2, records)
