from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from penstock.errors import UsageError
from penstock.inline.run import InlineOptions
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.text.offset_ranges import parse_offsets
from tests.cli.shell import Cli


def shared(row: dict[str, int]) -> dict[str, int]:
    return {"n": 12 // row["n"]}


@pytest.fixture
def dead(working_directory: Path) -> Path:
    """A log whose topic `out.dead` holds two letters of bytes and one of a function."""
    home = working_directory / ".penstock"
    with open_log(home) as log:
        log.create_topic("events")
        rows = rows_of_bytes(
            [b"{", b'{"n": 0}', b"\xff\x00"],
            keys=[b"k", None, b"\xfe"],
            timestamps=[0, 1, 2],
            headers=[(("trace", b"t1"),), (), ()],
        )
        log.append("events", 0, rows)
    app = ps.App("events", home=home)
    source = app.stream("events", schema={"n": int}, format="json")
    source.map(shared, schema={"n": int}).to("out")
    app.run_here(options=InlineOptions(until="caught up"))
    return home


def test_a_log_without_dead_letters_says_so(cli: Cli) -> None:
    assert cli.ok("dlq", "list").err == "there are no dead letters\n"
    assert cli.ok("dlq", "list", "--json").json == []


def test_letters_are_counted_by_reason(cli: Cli, dead: Path) -> None:
    listed = cli.ok("dlq", "list", "--json").json
    assert listed == [
        {
            "topic": "out.dead",
            "reason": "VALUE_UNREADABLE",
            "step": "events",
            "source": "events",
            "letters": 2,
            "replayed": 0,
        },
        {
            "topic": "out.dead",
            "reason": "ZeroDivisionError",
            "step": "shared",
            "source": "events",
            "letters": 1,
            "replayed": 0,
        },
    ]
    assert "VALUE_UNREADABLE" in cli.ok("dlq", "list").out


def test_a_letter_is_shown_with_bytes_headers_and_traceback(cli: Cli, dead: Path) -> None:
    shown = cli.ok("dlq", "show", "out").out
    assert "record     events-0 offset 0" in shown
    assert "headers    trace=t1" in shown
    assert "value      2 bytes: \\xff\\x00" in shown
    assert "000000  ff 00" in shown
    assert "| ZeroDivisionError: integer division or modulo by zero" in shown
    whole = cli.ok("dlq", "show", "out.dead", "--reason", "VALUE_UNREADABLE", "--json").json
    assert [letter["raw"] for letter in whole] == ["{", {"base64": "/wA="}]
    assert whole[0]["source"] == {"topic": "events", "partition": 0, "offset": 0}
    assert whole[0]["headers"] == [["trace", "t1"]]
    some = cli.ok("dlq", "show", "out", "--max", "1")
    assert "2 more; --max shows more" in some.err


def test_letters_go_back_once(cli: Cli, dead: Path) -> None:
    dry = cli.ok("dlq", "replay", "out", "--dry-run")
    assert dry.err == "3 letters would be sent again\n"
    first = cli.ok("dlq", "replay", "out.dead", "--reason", "VALUE_UNREADABLE", "--topic", "events")
    assert (first.out, first.err) == ("events-0\t2\n", "2 records sent again\n")
    again = cli.ok("dlq", "replay", "out.dead")
    assert again.err == "1 record sent again\n2 letters had been sent before\n"
    assert [row["replayed"] for row in cli.ok("dlq", "list", "--json").json] == [2, 1]
    assert "offset 0, replayed" in cli.ok("dlq", "show", "out", "--offsets", "0").out


def test_what_is_not_there_is_refused(cli: Cli, dead: Path) -> None:
    assert "[DEAD_TOPIC]" in cli("dlq", "show", "events").err
    missing = cli("dlq", "show", "out", "--reason", "NOTHING")
    assert "[DEAD_LETTER_MISSING]" in missing.err
    assert cli("dlq", "replay", "out", "--offsets", "x").code == 2


def test_offsets_are_numbers_and_ranges() -> None:
    takes = parse_offsets("3, 10-12,40-")
    assert [number for number in range(50) if takes(number)] == [3, 10, 11, 12, *range(40, 50)]
    with pytest.raises(UsageError, match="OFFSETS_FORMAT"):
        parse_offsets("3,,4")
