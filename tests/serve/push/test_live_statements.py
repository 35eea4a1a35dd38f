from __future__ import annotations

from typing import Any

import httpx
import pyarrow as pa
import pytest

from penstock.log.rows import rows_of_bytes
from tests.serve.push.conftest import Live
from tests.serve.push.follower import Follower
from tests.serve.push.soon import soon

VIEWS = (
    "CREATE STREAM views (page STRING, seconds INT)"
    " WITH (kafka_topic='views', value_format='JSON', partitions=2);"
)


def views(*pages: str) -> pa.Table:
    return rows_of_bytes(
        [b'{"page":"%b","seconds":%d}' % (p.encode(), n) for n, p in enumerate(pages)]
    )


@pytest.fixture
def statements(live: Live) -> Live:
    """A stream of page views."""
    with live.platform.turn:
        list(live.platform.sql.run(VIEWS))
    return live


async def opened(live: Live, sql: str, after: str = "", **more: str) -> Follower:
    query = httpx.QueryParams({"sql": sql, **more})
    follower = Follower(f"{live.url}/query?{query}", after=after)
    await follower.open()
    assert follower.status == 200
    return follower


async def pages(follower: Follower, count: int) -> list[Any]:
    found: list[Any] = []
    while len(found) < count:
        (data,) = await follower.rows(1)
        found += data["rows"]
    return found


def test_a_statement_without_a_memory_is_shared_and_resumed_exactly(statements: Live) -> None:
    log, sql = statements.platform.log, "SELECT page FROM views WHERE page <> 'x' EMIT CHANGES;"

    async def follow() -> tuple[list[Any], Any]:
        first, second = await opened(statements, sql), await opened(statements, sql)
        opening = [await first.hear(), await second.hear()][0]
        assert len(statements.platform.feeds.open) == 1
        log.append("views", 0, views("a", "x", "b"))
        seen = await pages(first, 2)
        assert await pages(second, 2) == seen
        first.cut()
        log.append("views", 1, views("c", "d"))
        again = await opened(statements, sql, first.token)
        seen += await pages(again, 2)
        again.cut()
        second.cut()
        return seen, opening

    seen, opening = soon(follow())
    assert [row["PAGE"] for row in seen] == ["a", "b", "c", "d"]
    assert opening.data["resume"] == "exact"


def test_a_statement_with_a_memory_gives_its_rows_to_whoever_comes_later(statements: Live) -> None:
    log = statements.platform.log
    sql = "SELECT page, COUNT(*) AS n FROM views GROUP BY page EMIT CHANGES"

    async def follow() -> tuple[Any, ...]:
        first = await opened(statements, sql)
        opening, empty = await first.hear(), await first.hear()
        log.append("views", 0, views("a", "a", "b"))
        rows: dict[str, int] = {}
        while rows.get("a") != 2 or rows.get("b") != 1:
            (data,) = await first.rows(1)
            rows.update({row["PAGE"]: row["N"] for row in data["rows"]})
        second = await opened(statements, sql)
        await second.hear()
        there = await second.hear()
        resumed = await opened(statements, sql, first.token)
        opening_again = await resumed.hear()
        for follower in (first, second, resumed):
            follower.cut()
        return opening, empty, there, opening_again

    opening, empty, there, again = soon(follow())
    assert opening.data["resume"] == "snapshot"
    assert (empty.name, empty.data["rows"]) == ("snapshot", [])
    assert sorted(row["N"] for row in there.data["rows"]) == [1, 2]
    assert again.data["resumed"]


def test_a_token_of_a_memory_that_is_gone_is_told_and_the_rows_begin_anew(statements: Live) -> None:
    sql = "SELECT page, COUNT(*) AS n FROM views GROUP BY page EMIT CHANGES"
    other = "SELECT page, COUNT(*) AS m FROM views GROUP BY page EMIT CHANGES"

    async def follow() -> list[Any]:
        first = await opened(statements, sql)
        await first.hear()
        await first.hear()
        again = await opened(statements, other, first.token)
        heard = [await again.hear() for _ in range(3)]
        first.cut()
        again.cut()
        return heard

    opening, gap, snapshot = soon(follow())
    assert not opening.data["resumed"]
    assert gap.data["code"] == "LIVE_RESTARTED"
    assert snapshot.name == "snapshot"


def test_a_limit_ends_the_stream_and_history_is_read_where_asked_for(statements: Live) -> None:
    statements.platform.log.append("views", 0, views("a", "b", "c"))
    sql = "SELECT page FROM views EMIT CHANGES LIMIT 2"

    async def follow() -> list[Any]:
        follower = await opened(statements, sql, **{"from": "beginning"})
        heard = [await follower.hear() for _ in range(3)]
        follower.cut()
        return heard

    _, rows, end = soon(follow())
    assert rows.data["rows"] == [{"PAGE": "a"}, {"PAGE": "b"}]
    assert end.name == "end"


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT page FROM views", "LIVE_STATEMENT"),
        ("DROP STREAM views", "LIVE_STATEMENT"),
        ("SELECT page FROM views EMIT CHANGES; SELECT 1", "LIVE_STATEMENT"),
        ("SELECT pag FROM views EMIT CHANGES", "SQL_COLUMN_MISSING"),
        ("SELEC", "SQL_SYNTAX"),
    ],
)
def test_what_cannot_be_followed_is_refused(statements: Live, sql: str, code: str) -> None:
    answer = httpx.get(f"{statements.url}/query", params={"sql": sql})
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_table_is_given_whole_and_then_as_it_changes(live: Live) -> None:
    log = live.platform.log
    log.create_topic("t", partitions=2)
    log.append("t", 0, rows_of_bytes([b"1", b"2", b"3"], keys=[b"a", b"b", b"a"]))
    log.append("t", 1, rows_of_bytes([b"4", None, b"5"], keys=[b"c", b"c", b"d"]))

    async def follow() -> tuple[Any, ...]:
        follower = Follower(f"{live.url}/tables/t")
        await follower.open()
        await follower.hear()
        snapshot = await follower.hear()
        log.append("t", 0, rows_of_bytes([b"6"], keys=[b"a"]))
        changes = await follower.rows(1)
        follower.cut()
        log.append("t", 1, rows_of_bytes([None], keys=[b"d"]))
        again = Follower(f"{live.url}/tables/t", after=follower.token)
        await again.open()
        await again.hear()
        changes += await again.rows(1)
        again.cut()
        return snapshot, changes

    snapshot, changes = soon(follow())
    rows = {row["key"]: row["value"] for row in snapshot.data["rows"]}
    assert rows == {"b": "2", "a": "3", "d": "5"}
    assert [(row["key"], row["value"]) for row in changes] == [("a", "6"), ("d", None)]


def test_a_table_of_very_many_keys_is_not_sent_whole(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.serve.push.table_source.MOST_KEYS", 2)
    live.platform.log.create_topic("t")
    live.platform.log.append("t", 0, rows_of_bytes([b"1"] * 3, keys=[b"a", b"b", b"c"]))
    answer = httpx.get(f"{live.url}/tables/t")
    assert (answer.status_code, answer.json()["code"]) == (413, "LIVE_TABLE")


def test_a_statement_whose_topic_was_made_anew_ends_and_says_so(statements: Live) -> None:
    log, sql = statements.platform.log, "SELECT page FROM views EMIT CHANGES;"

    async def follow() -> list[Any]:
        follower = await opened(statements, sql)
        heard = [await follower.hear()]
        log.delete_topic("views")
        log.create_topic("views", partitions=2)
        heard.append(await follower.hear())
        follower.cut()
        return heard

    _, ended = soon(follow())
    # Whichever it finds first.
    assert ended.data["code"] in {"TOPIC_REPLACED", "TOPIC_MISSING"}
