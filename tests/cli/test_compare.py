from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli.compared_engines import COLUMNS, ENGINES, IN_SHORT
from penstock.cli.main import run

PAGE = Path(__file__).parents[2] / "docs" / "comparison.md"


def test_the_engines_of_the_customers_documents_and_ours_are_in_one_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["compare"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["engine", *IN_SHORT]
    assert [line.split("  ")[0] for line in lines[1:]] == [
        *("Storm", "Samza", "Spark", "Flink", "Kafka Streams", "Dataflow", "Penstock")
    ]


def test_all_is_told_of_the_engines_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "Kafka Streams", "flink"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Kafka Streams"
    assert [line.split()[0] for line in lines[1 : 1 + len(COLUMNS)]] == list(COLUMNS)
    assert lines[2 + len(COLUMNS)] == "Flink"


def test_programs_get_the_comparison_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [row["engine"] for row in shown] == [engine.engine for engine in ENGINES]
    assert all(set(row) == {"engine", *COLUMNS} for row in shown)


def test_an_engine_that_is_not_compared_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "flnk"]) != 0
    said = capsys.readouterr().err
    assert "ENGINE_MISSING" in said
    assert 'Did you mean "flink"?' in said


def test_the_commands_of_the_page_run_as_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    block = PAGE.read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    for line in block.splitlines():
        assert run(line.split()[1:]) == 0
    assert capsys.readouterr().out.count("Penstock") == 3


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.engine)
def test_the_page_says_what_the_command_says(engine: object) -> None:
    page = PAGE.read_text(encoding="utf-8")
    missing = [name for name in COLUMNS if f"| {getattr(engine, name)} |" not in page]
    assert missing == []
