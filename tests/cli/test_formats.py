from __future__ import annotations

import json
from pathlib import Path

from tests.cli.shell import Cli

COLUMNS = "user string, n bigint"


def test_rows_are_produced_and_consumed_by_one_format(cli: Cli, working_directory: Path) -> None:
    cli.ok("topics", "create", "views")
    lines = b'{"user": "ann", "n": 1}\n{"n": 2}\n'
    cli.ok("produce", "views", "--format", "json", "--schema", COLUMNS, stdin=lines)
    shown = cli.ok("consume", "views", "--no-wait", "--format", "json", "--schema", COLUMNS)
    assert list(map(json.loads, shown.lines)) == [{"user": "ann", "n": 1}, {"user": None, "n": 2}]
    raw = cli.ok("consume", "views", "--no-wait", "--raw")
    assert json.loads(raw.lines[0]) == {"user": "ann", "n": 1}


def test_a_row_that_does_not_fit_is_refused_before_the_log(
    cli: Cli, working_directory: Path
) -> None:
    cli.ok("topics", "create", "views")
    ran = cli("produce", "views", "--format", "json", "--schema", COLUMNS, stdin=b'{"n": "x"}\n')
    assert ran.code == 1
    assert "[LINE_FORMAT] line 1 is no row" in ran.err
    assert cli.ok("consume", "views", "--no-wait").out == ""


def test_a_value_that_cannot_be_read_is_named_and_passed_over(
    cli: Cli, working_directory: Path
) -> None:
    cli.ok("topics", "create", "views")
    cli.ok("produce", "views", stdin=b'{"n": 1}\n{oops\n{"n": 3}\n')
    shown = cli.ok("consume", "views", "--no-wait", "--format", "json", "--schema", "n bigint")
    assert shown.lines == ['{"n": 1}', '{"n": 3}']
    assert 'offset 1 of "views-0" cannot be read: not JSON' in shown.err


def test_a_topic_bound_by_configuration_needs_no_format(cli: Cli, working_directory: Path) -> None:
    Path("penstock.toml").write_text('[serdes]\ntext = "string"\n[topics.Words]\nvalue = "text"\n')
    cli.ok("topics", "create", "Words")
    cli.ok("produce", "Words", stdin=b'{"value": "hello"}\n')
    assert cli.ok("consume", "Words", "--no-wait", "--raw").out == "hello\n"
    assert cli.ok("consume", "Words", "--no-wait").lines == ['{"value": "hello"}']
    described = cli.ok("topics", "describe", "Words", "--json").json
    assert described["formats"] == {"value": "string"}
    assert "value  string" in cli.ok("topics", "describe", "Words").out


def test_options_of_formats_that_contradict_are_refused(cli: Cli, working_directory: Path) -> None:
    cli.ok("topics", "create", "typed", "--schema", "n bigint")
    cli.ok("topics", "create", "bytes")
    for words in (
        ("consume", "typed", "--no-wait", "--format", "json"),
        ("consume", "bytes", "--no-wait", "--schema", "n bigint"),
        ("produce", "bytes", "--json", "--format", "json", "--schema", "n bigint"),
    ):
        ran = cli(*words)
        assert (ran.code, "[OPTIONS_CONFLICT]" in ran.err) == (2, True), ran
