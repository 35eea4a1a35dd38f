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


USER = '{"type": "record", "name": "User", "fields": [{"name": "name", "type": "string"}%s]}'
COLOUR = ', {"name": "colour", "type": ["null", "string"], "default": null}'
NUMBER = ', {"name": "number", "type": "int"}'


def test_a_producer_registers_its_schema_and_one_that_breaks_readers_is_refused(
    cli: Cli, working_directory: Path
) -> None:
    cli.ok("topics", "create", "users")
    for name, more in (("first", ""), ("second", COLOUR), ("third", NUMBER)):
        Path(f"{name}.avsc").write_text(USER % more)
    words = ("produce", "users", "--format", "avro", "--schema")
    cli.ok(*words, "first.avsc", stdin=b'{"name": "ann"}\n')
    cli.ok(*words, "second.avsc", stdin=b'{"name": "bob", "colour": "red"}\n')
    refused = cli(*words, "third.avsc", stdin=b'{"name": "cy", "number": 3}\n')
    assert (refused.code, "INCOMPATIBLE" in refused.err) == (1, True)
    shown = cli.ok("consume", "users", "--no-wait", "--format", "avro")
    assert list(map(json.loads, shown.lines)) == [
        {"name": "ann", "colour": None},
        {"name": "bob", "colour": "red"},
    ]


def test_a_subject_that_nobody_registered_is_refused(cli: Cli, working_directory: Path) -> None:
    cli.ok("topics", "create", "users")
    words = ("--format", "avro", "--subject", "nobody")
    ran = cli("produce", "users", *words, stdin=b'{"name": "ann"}\n')
    assert (ran.code, "[SUBJECT_MISSING]" in ran.err) == (1, True)
    assert cli.ok("consume", "users", "--no-wait").out == ""


def test_a_program_finds_its_subjects_in_the_home_of_the_command_line(
    cli: Cli, working_directory: Path
) -> None:
    home = ("--home", "elsewhere")
    Path("user.avsc").write_text(USER % COLOUR)
    cli.ok(*home, "topics", "create", "users")
    words = ("produce", "users", "--format", "avro", "--schema", "user.avsc")
    cli.ok(*home, *words, stdin=b'{"name": "ann"}\n')
    Path("shop.py").write_text(
        "import penstock as ps\n"
        'app = ps.App("shop")\n'
        'app.stream("users", format="avro").to("names", format="json")\n'
    )
    explained = cli.ok(*home, "explain", "shop.py", "--stage", "model").out
    assert "gives name string, colour string" in explained
    assert "SUBJECT_MISSING" in cli("explain", "shop.py").err
    cli.ok(*home, "run", "shop.py", "--here", "--bounded")
    shown = cli.ok(*home, "consume", "names", "--no-wait", "--raw").lines
    assert json.loads(shown[0])["name"] == "ann"
