"""How soon the row of a key is had over HTTP, while a job changes the table."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from bench.child import SPAWN
from bench.measure import percentile
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.sql.session import SqlSession

_STATEMENTS = """
CREATE STREAM clicks (person STRING KEY, page STRING)
  WITH (KAFKA_TOPIC='clicks', VALUE_FORMAT='JSON', PARTITIONS=2);
CREATE TABLE clicks_by_person AS
  SELECT person, COUNT(*) AS clicks, LATEST_BY_OFFSET(page) AS page FROM clicks GROUP BY person;
"""
_PIECE = 20_000
_ROWS_A_TURN, _TURNS_A_SECOND = 100, 10
_PATIENCE = 600.0
_METHOD = (
    "A SQL query counts the clicks of each person into a table. One process appends"
    f" {_ROWS_A_TURN * _TURNS_A_SECOND} clicks a second of persons at random, one runs the query,"
    " one is the server, and one asks it for the rows of persons at random by"
    " `GET /api/v1/tables/.../rows?key=...`, one after the other over one connection. Each answer"
    " reflects all that the log held when it was asked. The time is from before the request to the"
    " row in hand; what the first answer takes, which reads the table, is told by itself."
)


def run(scale: Scale) -> Result:
    """Fill a table, and ask for its rows while it changes."""
    keys, lookups, rounds = scale.of(1_000_000, 2_000), scale.of(2_000, 50), scale.of(5, 2)
    with scale.home() as home, ExitStack() as stack:
        _fill(home, keys)
        server = stack.enter_context(_beside(_serve, home))
        url: str = server.recv()
        stack.enter_context(_beside(_work, home)).recv()
        stack.enter_context(_beside(_append, home, keys)).recv()
        first, rows = _asked(url, keys, (lookups, rounds))
    measures = (
        Measure(
            label="p50",
            unit="ms",
            ours=tuple(percentile(row, 0.50) for row in rows),
            lower_is_better=True,
        ),
        Measure(
            label="p99",
            unit="ms",
            ours=tuple(percentile(row, 0.99) for row in rows),
            lower_is_better=True,
            target=Target("at most", 20),
        ),
        Measure(label="the first answer", unit="s", ours=(first,), lower_is_better=True),
    )
    return Result(
        name="lookup",
        title="Rows of a table by key while a job runs",
        method=_METHOD,
        scale=scale.name,
        sizes={"keys": keys, "lookups a round": lookups, "rounds": rounds},
        measures=measures,
    )


def _fill(home: Path, keys: int) -> None:
    with SqlSession(home, here=True) as session, open_log(home) as log:
        for _ in session.run(_STATEMENTS):
            pass
        for start in range(0, keys, _PIECE):
            persons = range(start, min(start + _PIECE, keys))
            for partition in range(2):
                mine = [number for number in persons if number % 2 == partition]
                values = [b'{"PAGE":"/page/%d"}' % (number % 97) for number in mine]
                rows = rows_of_bytes(values, keys=[b"person-%d" % number for number in mine])
                log.append("clicks", partition, rows)
        session.catch_up()


def _asked(url: str, keys: int, amount: tuple[int, int]) -> tuple[float, list[list[float]]]:
    """Give what the first answer took, in seconds, and the others of each round in milliseconds."""
    import httpx  # noqa: PLC0415  # only this process is a client

    lookups, rounds = amount
    chosen = random.Random(7)
    place = "/api/v1/tables/CLICKS_BY_PERSON/rows"
    with httpx.Client(base_url=url, timeout=_PATIENCE) as client:

        def ask() -> float:
            key = f"person-{chosen.randrange(keys)}"
            began = time.perf_counter()
            found = client.get(place, params={"key": key})
            taken = time.perf_counter() - began
            assert found.json()["rows"][0][0] == key, found.text
            return taken

        first = ask()
        for _ in range(lookups // 10):
            ask()
        return first, [[ask() * 1000 for _ in range(lookups)] for _ in range(rounds)]


@contextmanager
def _beside(work: Callable[..., None], *given: object) -> Iterator[Connection]:
    """Let a process of its own work for the length of a with block."""
    near, far = SPAWN.Pipe()
    child = SPAWN.Process(target=work, args=(far, *given), daemon=True)
    child.start()
    far.close()
    try:
        yield near
    finally:
        near.send("end")
        child.join(20)
        if child.is_alive():
            child.kill()
            child.join()


def _serve(far: Connection, home: Path) -> None:
    from penstock.serve.application import application  # noqa: PLC0415  # only one process serves
    from penstock.serve.opened import opened_platform  # noqa: PLC0415
    from penstock.serve.server import HttpServer  # noqa: PLC0415

    with opened_platform(home) as platform, HttpServer(application(platform)) as server:
        far.send(server.url)
        far.recv()


def _work(far: Connection, home: Path) -> None:
    with SqlSession(home, here=True) as session:
        session.follow_queries()
        far.send("runs")
        while not far.poll(1.0):
            failures = session.follow_queries()
            assert not failures, failures


def _append(far: Connection, home: Path, keys: int) -> None:
    chosen = random.Random(8)
    with open_log(home) as log:
        far.send("appends")
        while not far.poll(1 / _TURNS_A_SECOND):
            partition = chosen.randrange(2)
            persons = [2 * chosen.randrange(keys // 2) + partition for _ in range(_ROWS_A_TURN)]
            values = [b'{"PAGE":"/page/%d"}' % chosen.randrange(97) for _ in persons]
            rows = rows_of_bytes(values, keys=[b"person-%d" % number for number in persons])
            log.append("clicks", partition, rows)
