"""The page on leaving ksqlDB is read from top to bottom, and what it says is done."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.shell import Cli
from tests.docs.reader import Reader


def test_what_leaving_ksqldb_md_says_is_done(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cli = Cli(capsys, monkeypatch)
    codes = {"penstock import ksql queries.sql --to project/": 1, "penstock sql plan project/": 2}
    Reader(cli, codes).reads("leaving-ksqldb.md")
    assert "TOTALS" in cli.ok("sql", "-e", "SHOW TABLES;").out
