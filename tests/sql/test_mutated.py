from __future__ import annotations

import random
import re
from copy import deepcopy
from pathlib import Path

from penstock.errors import PenstockError
from penstock.front.sql.catalog import Catalog
from penstock.front.sql.statement import Session
from penstock.sql.script import pieces_of, read_piece
from penstock.sql.session import SqlSession
from tests.sql import mutation
from tests.sql.kit import ORDERS, PEOPLE, opened, told

STATEMENTS = (
    ORDERS.replace("orders", "more"),
    "CREATE STREAM big AS SELECT id, amount + 1 AS next FROM orders WHERE item LIKE '%a%';",
    "CREATE TABLE counted AS SELECT item, COUNT(*) AS n FROM orders GROUP BY item;",
    "INSERT INTO orders (ROWTIME, id, amount) VALUES (5, 'a', 1);",
    "SELECT o.id, p.name FROM orders o JOIN people p ON o.id = p.id EMIT CHANGES LIMIT 1;",
    "SELECT id, UCASE(name) AS big FROM people WHERE id = 'a' ORDER BY big LIMIT 3;",
    "DESCRIBE orders EXTENDED;",
    "EXPLAIN SELECT id, SUM(amount) FROM orders WINDOW TUMBLING (SIZE 1 MINUTE) GROUP BY id"
    " EMIT CHANGES;",
    "ASSERT VALUES people (id, name) VALUES ('a', 'Ada');",
    "DROP TABLE people DELETE TOPIC;",
)
WORDS = re.compile(r"'[^']*'|\w+|[^\s\w]")
NAMES = re.compile(r"'[^']*'|[a-z]\w*|\d+")
OTHERS = ("NULL", "'x'", "-1", "99999999999", "id", "amount", "nothing", "orders", "people", "big")

PLACE = re.compile(r"line \d+, column \d+: .*\n.*\n\s*\^", re.DOTALL)


def mutated(text: str, chance: random.Random) -> str:
    """Give a statement in which a name or a value is another, or any word is gone or twice."""
    words = WORDS.findall(text)
    place = chance.randrange(len(words))
    match chance.randrange(4):
        case 0:
            words.insert(place, words[place])
        case 1:
            del words[place]
        case _:
            names = [at for at, word in enumerate(words) if NAMES.fullmatch(word)]
            words[chance.choice(names)] = chance.choice(OTHERS)
    return " ".join(words)


def answer_all(session: SqlSession, text: str) -> None:
    for answer in session.run(text):
        # As far as there is something to give at once.
        next(iter(getattr(answer, "rows", ())), None)


def test_mutated_statements_give_answers_or_coded_errors(tmp_path: Path) -> None:
    chance = random.Random(7)
    refused: list[PenstockError] = []
    with opened(tmp_path) as session:
        told(session, f"{ORDERS}{PEOPLE}")
        for number in range(50):
            text = mutated(STATEMENTS[number % len(STATEMENTS)], chance)
            try:
                answer_all(session, text)
            except PenstockError as error:
                refused.append(error)
    assert len(refused) > 25
    assert [error.fact for error in refused if not PLACE.search(error.fact)] == []


# What only a session on a log can do is sound, once it is read.
_NOT_HERE = "this statement cannot be run here"


def refusal(session: Session, text: str) -> PenstockError | None:
    """Read and resolve statements; anything that is raised but an error of ours is a failure."""
    try:
        for piece in pieces_of(text):
            session.execute(read_piece(piece, {}))
    except PenstockError as error:
        return None if _NOT_HERE in error.fact else error
    return None


def test_every_mutated_statement_is_refused_with_a_code_and_a_place_or_is_sound() -> None:
    chance = random.Random(11)
    known = Session(Catalog())
    assert refusal(known, mutation.SETUP) is None
    refused: list[PenstockError] = []
    for number in range(10 * len(mutation.STATEMENTS)):
        statement = mutation.STATEMENTS[number % len(mutation.STATEMENTS)]
        error = refusal(deepcopy(known), mutation.mutated(statement, chance))
        refused += [] if error is None else [error]
    assert len(refused) > 200
    assert [error for error in refused if not error.code.startswith("SQL_")] == []
    assert [error.fact for error in refused if not PLACE.search(error.fact)] == []
