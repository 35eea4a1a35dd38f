from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli.main import run
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.server import HttpServer

SELECT = "SELECT value FROM words ORDER BY value"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    with open_log(tmp_path) as log:
        log.create_topic("words")
        log.append("words", 0, rows_of_bytes([b"to", b"be"], timestamps=[10, 20]))
    return tmp_path


def test_a_select_is_answered_on_the_command_line(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["query", SELECT, f"--home={home}"]) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == ["VALUE", "be", "to"]
    assert shown.err == "(2 rows as of words-0@2)\n"
    assert run(["query", SELECT, "--csv", "--as-of", "10", f"--home={home}"]) == 0
    assert capsys.readouterr().out == "VALUE\nto\n"
    assert run(["query", SELECT, "--json", "--as-of", "words-0=1", f"--home={home}"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == [["to"]]
    assert run(["query", "--tables", f"--home={home}"]) == 0
    assert "words" in capsys.readouterr().out


def test_what_is_wrong_is_said(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["query", "SELECT * FROM wrods", f"--home={home}"]) == 1
    said = capsys.readouterr().err
    assert "QUERY_TABLE_MISSING" in said
    assert 'Did you mean "words"?' in said
    assert run(["query", f"--home={home}"]) == 2
    assert "QUERY_OPTIONS" in capsys.readouterr().err
    assert run(["query", SELECT, "--as-of", "words-0=x", f"--home={home}"]) == 2
    assert "QUERY_AS_OF" in capsys.readouterr().err
    assert run(["query", SELECT, "--server", "http://127.0.0.1:9"]) == 1
    assert "SERVER_AWAY" in capsys.readouterr().err


def test_a_server_answers_the_same(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened_platform(home) as platform, HttpServer(application(platform)) as server:
        there = ["--server", server.url]
        assert run(["query", SELECT, *there]) == 0
        assert capsys.readouterr().out.split() == ["VALUE", "be", "to"]
        assert run(["query", "SELECT * FROM wrods", *there]) == 1
        assert 'Did you mean "words"?' in capsys.readouterr().err
        assert run(["query", "--tables", "--json", *there]) == 0
        assert json.loads(capsys.readouterr().out)[0]["name"] == "words"
