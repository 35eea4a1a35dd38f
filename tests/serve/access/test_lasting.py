from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from penstock.errors import RequestError
from penstock.log.remote.web_log import WebLog
from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.server import HttpServer
from tests.eventually import eventually


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, TokenFile]]:
    monkeypatch.setattr("penstock.serve.access.lasting.LOOKED_AFTER", 0.05)
    tokens = TokenFile(tmp_path)
    tokens.create("other", Role.ADMIN)
    with opened_platform(tmp_path) as platform:
        platform.log.create_topic("clicks")
        with HttpServer(application(platform, Policy(tokens))) as server:
            yield server.url, tokens
            platform.feeds.close()


def test_a_token_that_is_revoked_ends_what_its_owner_follows(
    served: tuple[str, TokenFile],
) -> None:
    url, tokens = served
    known = {"Authorization": f"Bearer {tokens.create('ada', Role.READER)}"}
    with httpx.stream("GET", f"{url}/api/v1/live/topics/clicks", headers=known) as live:
        lines = live.iter_lines()
        assert next(lines)
        tokens.revoke("ada")
        # It ends in order, and does not break.
        assert isinstance(list(lines), list)
    refused = httpx.get(f"{url}/api/v1/live/topics/clicks", headers=known)
    assert refused.json()["code"] == "TOKEN_WRONG"


def test_a_token_that_is_revoked_closes_the_log_for_its_owner_only(
    served: tuple[str, TokenFile],
) -> None:
    url, tokens = served
    with (
        WebLog(url, tokens.create("ada", Role.WRITER)) as hers,
        WebLog(url, tokens.create("ben", Role.READER)) as his,
    ):
        assert hers.topics() == his.topics() == ("clicks",)
        tokens.revoke("ada")
        eventually(lambda: _refusal(hers) == "TOKEN_WRONG")
        assert his.topics() == ("clicks",)


def _refusal(log: WebLog) -> str:
    try:
        log.topics()
    except RequestError as error:
        return error.code
    return ""
