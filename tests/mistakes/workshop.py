"""What a mistake is made with: topics, programs, ports and files in the working directory."""

from __future__ import annotations

import errno
import os
import socket
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.jobs.host import Host
from penstock.serve.server import HttpServer
from penstock.serve.sql_api import sql_app
from penstock.sql.server_token import made_token
from penstock.sql.session import SqlSession
from tests.cli.shell import Cli

HEAD = """import penstock as ps
app = ps.App("shop")
clicks = app.stream("clicks", schema={"user": "string", "n": "int64"})
"""
COUNTED = 'clicks.group_by("user").agg(total=ps.sum("n")).to("totals")\n'
HOME = Path(".penstock")


@dataclass(frozen=True, slots=True)
class Workshop:
    """Makes things for one test, and puts them away after it."""

    cli: Cli
    monkeypatch: pytest.MonkeyPatch
    open_things: ExitStack

    def topic(self) -> None:
        """Make the topic of the programs, with two rows."""
        self.cli.ok("topics", "create", "clicks", "--schema", "user string, n bigint")
        self.cli.ok("produce", "clicks", stdin=b'{"user":"ann","n":1}\n{"user":"bob","n":2}\n')

    def program(self, body: str = COUNTED, head: str = HEAD) -> str:
        """Write a program, and give its file."""
        Path("shop.py").write_text(head + body, encoding="utf-8")
        return "shop.py"

    def file(self, name: str, text: str) -> str:
        """Write a file, and give its name."""
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")
        return name

    def orders(self) -> None:
        """Make a stream of SQL."""
        self.cli.ok(
            "sql",
            "-e",
            "CREATE STREAM orders (id STRING KEY, item STRING, amount INT)"
            " WITH (KAFKA_TOPIC='orders', VALUE_FORMAT='JSON', PARTITIONS=1);",
        )

    def host(self) -> None:
        """Let another run the jobs of this home."""
        self.open_things.enter_context(Host(HOME, list, look=0.01).started())

    def taken_port(self) -> str:
        """Give a port that somebody listens on."""
        listener = self.open_things.enter_context(socket.create_server(("127.0.0.1", 0)))
        return str(listener.getsockname()[1])

    def free_port(self) -> str:
        """Give a port that nobody listens on."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            return str(listener.getsockname()[1])

    def full_disk(self) -> None:
        """Let the disk have no room from now on."""

        def full(*_: object) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        for name in ("write", "pwrite", "writev", "pwritev"):
            self.monkeypatch.setattr(os, name, full)

    def java(self, version: str) -> None:
        """Let the Java of this machine be of a version."""
        java = Path("jdk/bin/java")
        java.parent.mkdir(parents=True)
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        java.chmod(0o755)
        self.monkeypatch.setenv("JAVA_HOME", str(Path("jdk").absolute()))

    def server(self, token: str | None) -> str:
        """Serve SQL for a word that the home does not know, or knows, or does not have."""
        session = self.open_things.enter_context(SqlSession(HOME))
        made_token(HOME)
        app = sql_app(session, token or "another", threading.Lock())
        if token is None:
            (HOME / "sql-server.token").unlink()
        return self.open_things.enter_context(HttpServer(app)).url

    def damage(self, pattern: str) -> None:
        """Overwrite the middle of the files of a pattern."""
        found = [file for file in HOME.rglob(pattern) if file.is_file() and file.stat().st_size]
        assert found, sorted(HOME.rglob("*"))
        for file in found:
            content = bytearray(file.read_bytes())
            middle = len(content) // 2
            content[middle : middle + 8] = b"\xff" * len(content[middle : middle + 8])
            file.write_bytes(content)
