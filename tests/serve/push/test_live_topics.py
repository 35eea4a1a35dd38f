from __future__ import annotations

import asyncio
import random
from typing import Any

import httpx
import orjson
import pyarrow as pa
import pytest
from websockets.asyncio.client import connect

from penstock.log.rows import rows_of_bytes
from penstock.serve.push import subscription as subscriptions
from penstock.serve.push.token import identity_of, token_text
from tests.serve.push.conftest import Live
from tests.serve.push.follower import Follower, Heard
from tests.serve.push.soon import soon


def numbered(first: int, last: int, key: bytes | None = None) -> pa.Table:
    values = [
        b'{"n":%d,"even":%s}' % (n, b"false" if n % 2 else b"true") for n in range(first, last)
    ]
    return rows_of_bytes(values, keys=[key] * len(values))


async def opened(url: str, after: str = "") -> Follower:
    follower = Follower(url, after=after)
    await follower.open()
    assert follower.status == 200
    return follower


async def started(url: str) -> Follower:
    follower = await opened(url)
    heard = await follower.hear()
    assert heard is not None
    assert heard.name == "open"
    return follower


def test_records_come_as_they_are_appended_and_a_cut_is_resumed_without_gap(live: Live) -> None:
    live.platform.log.create_topic("t", partitions=2)
    live.platform.log.append("t", 0, numbered(0, 3))

    async def follow() -> list[int]:
        url = f"{live.url}/topics/t"
        follower = await started(url)
        live.platform.log.append("t", 1, numbered(3, 8))
        seen = [row["value"]["n"] for row in await follower.rows(3)]
        follower.cut()
        live.platform.log.append("t", 0, numbered(8, 12))
        again = await opened(url, follower.token)
        seen += [row["value"]["n"] for row in await again.rows(6)]
        again.cut()
        return seen

    assert sorted(soon(follow())) == list(range(3, 12))


def test_the_beginning_a_time_and_a_token_are_places_to_begin_at(live: Live) -> None:
    live.platform.log.create_topic("t")
    old = rows_of_bytes([b"a", b"b"], timestamps=[1_000, 2_000])
    live.platform.log.append("t", 0, old)

    async def first(query: str) -> tuple[object, str]:
        follower = await opened(f"{live.url}/topics/t?{query}")
        (row,) = await follower.rows(1)
        follower.cut()
        return row["value"], follower.token

    value, token = soon(first("from=beginning"))
    assert value == "a"
    assert soon(first("from=1970-01-01T00:00:01.500Z"))[0] == "b"
    assert soon(first("from=2000"))[0] == "b"
    assert soon(first(f"after={token}"))[0] == "b"


def test_keys_values_and_columns_are_chosen_and_the_id_moves_on_over_the_rest(live: Live) -> None:
    log = live.platform.log
    log.create_topic("t")
    log.append("t", 0, numbered(0, 2, b"ann"))
    log.append("t", 0, numbered(2, 6, b"bob"))

    async def chosen(query: str, count: int) -> list[Any]:
        follower = await opened(f"{live.url}/topics/t?from=beginning&{query}")
        rows = await follower.rows(count)
        follower.cut()
        return [row["value"] for row in rows]

    assert [value["n"] for value in soon(chosen("key=bob", 4))] == [2, 3, 4, 5]
    both = soon(chosen("where=even%3Dtrue&key=bob&columns=n", 2))
    assert both == [{"n": 2}, {"n": 4}]


def test_what_retention_took_meanwhile_is_told_as_a_gap(live: Live) -> None:
    log = live.platform.log
    log.create_topic("t")
    log.append("t", 0, numbered(0, 2))

    async def follow() -> list[Any]:
        follower = await opened(f"{live.url}/topics/t?from=beginning")
        await follower.rows(1)
        follower.cut()
        log.append("t", 0, numbered(2, 6))
        log.delete_records("t", 0, before_offset=4)
        again = await opened(f"{live.url}/topics/t", follower.token)
        heard = [await again.hear() for _ in range(4)]
        again.cut()
        return heard

    opening, gap, *rows = soon(follow())
    assert (opening.name, gap.name) == ("open", "gap")
    assert gap.data["code"] == "LIVE_GAP"
    assert gap.data["detail"] == "records 1 to 3 of t-0 are no longer there"
    assert [row.data["value"]["n"] for row in rows] == [4, 5]


def test_a_topic_made_anew_is_told_and_read_from_its_beginning(live: Live) -> None:
    log = live.platform.log
    log.create_topic("t")
    log.append("t", 0, numbered(0, 2))

    async def follow() -> list[Any]:
        follower = await opened(f"{live.url}/topics/t?from=beginning")
        await follower.rows(2)
        log.delete_topic("t")
        ended = await follower.hear()
        follower.cut()
        log.create_topic("t")
        log.append("t", 0, numbered(7, 8))
        again = await opened(f"{live.url}/topics/t", follower.token)
        heard = [await again.hear() for _ in range(3)]
        again.cut()
        return [ended, *heard]

    ended, _, gap, row = soon(follow())
    assert (ended.name, ended.data["code"]) == ("error", "TOPIC_MISSING")
    assert gap.data["code"] == "LIVE_ANEW"
    assert row.data["value"]["n"] == 7


def test_a_token_ahead_of_the_log_is_told(live: Live) -> None:
    log = live.platform.log
    topic = log.create_topic("t")
    log.append("t", 0, numbered(0, 2))
    token = token_text(identity_of("t", topic.topic_id), (9,)).decode()

    async def follow() -> Heard | None:
        follower = await opened(f"{live.url}/topics/t", token)
        heard = [await follower.hear() for _ in range(2)]
        follower.cut()
        return heard[1]

    heard = soon(follow())
    assert heard is not None
    assert heard.data["code"] == "LIVE_CUT"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("after=nonsense", "LIVE_TOKEN"),
        ("from=yesterday", "LIVE_FROM"),
        ("where=page", "LIVE_WHERE"),
    ],
)
def test_what_a_request_says_wrong_is_told(live: Live, query: str, code: str) -> None:
    live.platform.log.create_topic("t")
    answer = httpx.get(f"{live.url}/topics/t?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_server_that_is_full_says_so(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penstock.serve.push.feeds.MOST_SUBSCRIBERS", 0)
    live.platform.log.create_topic("t")
    answer = httpx.get(f"{live.url}/topics/t")
    assert (answer.status_code, answer.json()["code"]) == (503, "LIVE_FULL")


def test_a_websocket_gives_the_same_and_resumes_by_its_first_message(live: Live) -> None:
    live.platform.log.create_topic("t")
    live.platform.log.append("t", 0, numbered(0, 4))
    url = f"{live.url.replace('http', 'ws', 1)}/topics/t/ws"

    async def rows(word: dict[str, Any], count: int) -> list[dict[str, Any]]:
        async with connect(url) as socket:
            await socket.send(orjson.dumps(word).decode())
            heard = [orjson.loads(await socket.recv()) for _ in range(count + 1)]
        assert heard[0]["event"] == "open"
        return heard[1:]

    first = soon(rows({"from": "beginning"}, 2))
    assert [row["data"]["value"]["n"] for row in first] == [0, 1]
    rest = soon(rows({"after": first[-1]["id"], "columns": ["n"]}, 2))
    assert [row["data"]["value"] for row in rest] == [{"n": 2}, {"n": 3}]


def test_a_websocket_that_says_nothing_sensible_is_refused(live: Live) -> None:
    live.platform.log.create_topic("t")
    url = f"{live.url.replace('http', 'ws', 1)}/topics"

    async def refused(name: str, word: str) -> object:
        async with connect(f"{url}/{name}/ws") as socket:
            await socket.send(word)
            return orjson.loads(await socket.recv())["data"]["code"]

    assert soon(refused("t", "hello")) == "LIVE_FIRST"
    assert soon(refused("nope", "{}")) == "TOPIC_MISSING"


def test_one_tail_serves_all_and_ends_when_nobody_follows(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.serve.push.feed._LINGER_SECONDS", 0.0)
    live.platform.log.create_topic("t")

    async def follow() -> None:
        several = [await started(f"{live.url}/topics/t") for _ in range(5)]
        assert len(live.platform.feeds.open) == 1
        assert live.platform.feeds.subscribers == 5
        for follower in several:
            follower.cut()
        while live.platform.feeds.open:
            await asyncio.sleep(0.02)

    soon(follow())


def test_a_transaction_is_seen_when_it_is_committed_and_not_before(live: Live) -> None:
    log = live.platform.log
    log.create_topic("t", partitions=2)

    async def follow() -> list[int]:
        follower = await started(f"{live.url}/topics/t")
        for first, decide in ((0, "abort"), (10, "commit")):
            work = log.transaction(f"id-{first}")
            work.begin()
            for partition in range(2):
                work.append("t", partition, numbered(first + partition, first + partition + 1))
            getattr(work, decide)()
            work.close()
        seen = [row["value"]["n"] for row in await follower.rows(2)]
        follower.cut()
        return seen

    assert sorted(soon(follow())) == [10, 11]


def test_two_hundred_that_are_cut_at_random_miss_nothing_and_see_nothing_twice(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A small ring, so that some have to read for themselves.
    monkeypatch.setattr("penstock.serve.push.ring.RING_BYTES", 20_000)
    monkeypatch.setattr(subscriptions, "_AT_ONCE", 2_000)
    log, total, partitions = live.platform.log, 300, 3
    log.create_topic("t", partitions=partitions)
    chance = random.Random(7)

    async def follow() -> list[int]:
        seen: list[int] = []
        follower = Follower(f"{live.url}/topics/t?from=beginning")
        while len(seen) < total:
            await follower.open()
            left = chance.randint(1, 120)
            while left and len(seen) < total:
                heard = await follower.hear()
                assert heard is not None
                assert heard.name in {"open", "message"}
                if heard.name == "message":
                    seen.append(heard.data["value"]["n"])
                    left -= 1
            follower.cut()
        return seen

    async def write() -> None:
        at = 0
        while at < total:
            count = chance.randint(1, 12)
            log.append("t", at % partitions, numbered(at, min(at + count, total)))
            at += count
            await asyncio.sleep(0.03)

    async def together() -> list[list[int] | None]:
        *found, _ = await asyncio.gather(*(follow() for _ in range(200)), write())
        return found

    for seen in soon(together()):
        assert sorted(seen or []) == list(range(total))


def test_one_that_never_reads_slows_nobody_and_holds_no_memory(live: Live) -> None:
    log, total = live.platform.log, 6_000
    log.create_topic("t")

    async def follow() -> list[int]:
        stuck = await started(f"{live.url}/topics/t")
        other = await started(f"{live.url}/topics/t")
        for first in range(0, total, 500):
            values = [
                b'{"n":%d,"filling":"%b"}' % (n, b"x" * 1_000) for n in range(first, first + 500)
            ]
            log.append("t", 0, rows_of_bytes(values))
        seen = [row["value"]["n"] for row in await other.rows(total)]
        (feed,) = live.platform.feeds.open
        # What the ring has dropped, the one that does not read can only have from the log.
        assert feed.ring.first > 0
        stuck.cut()
        other.cut()
        return seen

    assert soon(follow()) == list(range(total))


def test_a_tail_that_fails_is_told_to_those_who_follow(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    live.platform.log.create_topic("t")

    async def follow() -> Heard | None:
        follower = await started(f"{live.url}/topics/t")
        monkeypatch.setattr("penstock.serve.record_rows.RecordRows.rows", None)
        live.platform.log.append("t", 0, numbered(0, 1))
        heard = await follower.hear()
        follower.cut()
        return heard

    heard = soon(follow())
    assert heard is not None
    assert (heard.name, heard.data["code"]) == ("error", "LIVE_FAILED")
