from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from penstock.errors import LogError
from penstock.log.remote.web_log import WebLog
from penstock.log.rows import rows_of_bytes
from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.application import application
from penstock.serve.platform import Platform
from penstock.serve.server import HttpServer

PROGRAM = {"files": {"shop.py": "raise SystemExit"}, "program": "shop.py"}


@pytest.fixture
def guarded(platform: Platform) -> Iterator[tuple[str, dict[Role, str]]]:
    """The address of a server that gave out a token for each role."""
    tokens = TokenFile(platform.home)
    words = {role: tokens.create(role.name.lower(), role) for role in Role}
    with HttpServer(application(platform, Policy(tokens))) as server:
        yield server.url, words


def test_only_who_may_brings_in_code(guarded: tuple[str, dict[Role, str]]) -> None:
    url, words = guarded

    def status(role: Role, path: str, body: object) -> int:
        known = {"Authorization": f"Bearer {words[role]}"}
        return httpx.post(f"{url}/api/v1{path}", json=body, headers=known).status_code

    topic, record = {"name": "t"}, {"records": [{"value": "x"}]}
    assert status(Role.READER, "/topics", topic) == 403
    assert status(Role.WRITER, "/topics", topic) == 201
    assert status(Role.READER, "/topics/t/records", record) == 403
    # The catalog holds functions, which are code.
    assert status(Role.WRITER, "/topics/_catalog/records", record) == 403
    assert status(Role.WRITER, "/topics", {"name": "_mine"}) == 403
    assert status(Role.WRITER, "/jobs", PROGRAM) == 403
    assert status(Role.READER, "/sql", {"sql": "SHOW TOPICS;"}) == 200
    drop = {"sql": "CREATE STREAM s (a VARCHAR) WITH (KAFKA_TOPIC='s', VALUE_FORMAT='JSON');"}
    assert status(Role.READER, "/sql", drop) == 403


def test_the_log_itself_knows_roles(guarded: tuple[str, dict[Role, str]]) -> None:
    url, words = guarded
    rows = rows_of_bytes([b"x"])
    with WebLog(url, words[Role.WRITER]) as writer, WebLog(url, words[Role.READER]) as reader:
        writer.create_topic("t")
        assert writer.append("t", 0, rows).last_offset == 0
        assert reader.bounds("t", 0).end == 1
        for refused in (
            lambda: reader.append("t", 0, rows),
            lambda: reader.delete_topic("t"),
            lambda: writer.create_topic("_ours"),
            lambda: writer.append("_schemas", 0, rows),
        ):
            with pytest.raises(LogError, match="ROLE_NEEDED"):
                refused()


def test_files_of_a_program_stay_below_their_folder(api: httpx.Client) -> None:
    away = api.post("/jobs", json={"files": {"a.py": "", "../b.py": ""}, "program": "a.py"})
    assert (away.status_code, away.json()["code"]) == (400, "PROGRAM_PATH")
    other = api.post("/jobs", json={"files": {"a.py": ""}, "program": "/etc/a.py"})
    assert other.json()["code"] == "PROGRAM_MISSING"
    far = api.post("/jobs/shop/restore", json={"folder": "../away"})
    assert far.json()["code"] == "REQUEST_UNFIT"
