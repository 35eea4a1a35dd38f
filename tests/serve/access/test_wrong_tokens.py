from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from penstock.serve.access.role import Role
from penstock.serve.access.wrong_tokens import WrongTokens
from penstock.serve.structured_log import LOGGER
from tests.serve.server_kit import asked


class Waited:
    """A time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def shown(wrong: WrongTokens, address: str, times: int) -> None:
    async def run() -> None:
        for _ in range(times):
            await wrong.shown(address)

    asyncio.run(run())


def test_who_shows_many_waits_longer_and_longer_up_to_a_bound() -> None:
    time = Waited()
    wrong = WrongTokens(lambda: time.now, time.sleep)
    shown(wrong, "10.0.0.1", 11)
    assert time.waits == [0.25, 0.5, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0]
    assert wrong.wait_after(10**9) == 5.0


def test_others_do_not_wait_and_in_time_it_is_forgotten() -> None:
    time = Waited()
    wrong = WrongTokens(lambda: time.now, time.sleep)
    shown(wrong, "10.0.0.1", 4)
    shown(wrong, "10.0.0.2", 3)
    assert time.waits == [0.25]
    time.now += 301
    shown(wrong, "10.0.0.1", 3)
    assert time.waits == [0.25]


def test_however_many_addresses_there_are_only_the_latest_are_remembered() -> None:
    time = Waited()
    wrong = WrongTokens(lambda: time.now, time.sleep)
    shown(wrong, "first", 4)
    for number in range(1023):
        shown(wrong, str(number), 1)
    shown(wrong, "first", 1)
    assert time.waits == [0.25, 0.5]
    for number in range(1024):
        shown(wrong, str(number), 1)
    shown(wrong, "first", 1)
    assert time.waits == [0.25, 0.5]


def test_a_right_token_never_waits_and_the_log_tells_of_wrong_ones(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    time = Waited()
    wrong = WrongTokens(lambda: time.now, time.sleep)
    with asked(tmp_path, wrong=wrong) as server, caplog.at_level(logging.WARNING, LOGGER):
        right = server.bearer(Role.READER)
        for _ in range(4):
            refused = server.client.get("/metrics", headers={"Authorization": "Bearer nobody"})
            assert refused.json()["code"] == "TOKEN_WRONG"
        assert server.client.post("/login", data={"token": "nobody"}).status_code == 401
        assert time.waits == [0.25, 0.5]
        assert server.client.get("/metrics", headers=right).status_code == 200
        assert time.waits == [0.25, 0.5]
    told = [vars(record)["told"] for record in caplog.records if record.message == "wrong token"]
    assert told == [{"address": "testclient", "times": times} for times in (1, 2, 4)]
