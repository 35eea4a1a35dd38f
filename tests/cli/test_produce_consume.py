from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.shell import Cli, shell, start

pytestmark = pytest.mark.slow


def test_the_five_steps_of_the_course_in_a_shell(working_directory: Path) -> None:
    """Start nothing, start nothing; create, produce, consume."""
    ran = shell(
        "penstock topics create avg --partitions 1\n"
        "printf 'a\\nb\\n' | penstock produce avg\n"
        "penstock consume avg --from-beginning --max 2\n"
    )
    assert ran.stdout == "a\nb\n"
    assert ran.stderr == 'topic "avg" created with 1 partition\n2 records appended to "avg"\n'
    assert ran.returncode == 0


def test_a_waiting_consumer_gets_what_another_process_produces(
    cli: Cli, working_directory: Path
) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", stdin=b"old\n")
    with start("consume", "avg", "--from-beginning", "--max", "3") as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "old\n"
        cli.ok("produce", "avg", stdin=b"new\nnewer\n")
        assert consumer.communicate(timeout=30) == ("new\nnewer\n", "")
        assert consumer.returncode == 0


def test_ctrl_c_is_the_normal_end_of_consume(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", stdin=b"one\n")
    with start("consume", "avg", "--from-beginning", "--group", "g") as consumer:
        assert consumer.stdout is not None
        assert consumer.stdout.readline() == "one\n"
        _wait_for_commit(cli)
        consumer.send_signal(signal.SIGINT)
        assert consumer.communicate(timeout=30) == ("", "")
        assert consumer.returncode == 0
    assert cli.ok("groups", "describe", "g", "--json").json["members"] == []


def test_a_reader_that_leaves_ends_consume_quietly(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", stdin=b"".join(b"%d\n" % number for number in range(50_000)))
    ran = shell("penstock consume avg --no-wait | head -1; echo ${PIPESTATUS[0]}")
    assert ran.stdout == "0\n0\n"
    assert ran.stderr == ""


def test_keys_headers_timestamps_and_partitions_travel(cli: Cli) -> None:
    cli.ok("topics", "create", "avg", "--partitions", "3")
    words = ["--key-separator", ":", "--header", "a=1", "--header", "b=", "--partition", "2"]
    cli.ok("produce", "avg", *words, "--timestamp", "1767225600000", stdin=b"k:v:w\r\n")
    assert cli.ok("consume", "avg", "--no-wait", "--json").json == {
        "topic": "avg",
        "partition": 2,
        "offset": 0,
        "timestamp": 1767225600000,
        "key": "k",
        "value": "v:w",
        "headers": [["a", "1"], ["b", ""]],
    }
    shown = cli.ok(
        "consume", "avg", "--no-wait", "--show", "key,timestamp,offset,partition,headers"
    )
    assert shown.out == "k\t2026-01-01T00:00:00.000Z\t0\t2\ta=1,b=\tv:w\n"


def test_every_line_is_a_record(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli.ok("produce", "avg", stdin=b"one\n\nlast without newline")
    assert ran.err == '3 records appended to "avg"\n'
    assert ran.out == ""
    assert cli.ok("consume", "avg", "--no-wait").out == "one\n\nlast without newline\n"


def test_a_file_can_be_produced(cli: Cli, working_directory: Path) -> None:
    (working_directory / "lines").write_text("1\n2\n")
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", "--file", "lines")
    assert cli.ok("consume", "avg", "--no-wait").lines == ["1", "2"]
    missing = cli("produce", "avg", "--file", "nowhere")
    assert missing.code == 2
    assert "[FILE_UNREADABLE]" in missing.err


def test_a_topic_is_created_only_when_asked_for(cli: Cli) -> None:
    cli.ok("topics", "create", "averages")
    refused = cli("produce", "average", stdin=b"1\n")
    assert refused.code == 1
    assert 'Did you mean "averages"?' in refused.err
    assert 'topic "new" created' in cli.ok("produce", "new", "--create", stdin=b"1\n").err
    cli.ok("produce", "new", "--create", stdin=b"2\n")
    assert cli.ok("consume", "new", "--no-wait").lines == ["1", "2"]


def test_bytes_that_are_no_text_are_escaped_or_given_raw(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok(
        "produce", "avg", "--json", stdin=b'{"value": {"base64": "/wAK"}}\n{"value": "\\u001bx"}\n'
    )
    assert cli.ok("consume", "avg", "--no-wait").lines == ["\\xff\\x00\\n", "\\x1bx"]
    raw = shell("penstock consume avg --no-wait --raw | od -An -tx1")
    assert raw.stdout.split() == ["ff", "00", "0a", "0a", "1b", "78", "0a"]


def test_json_records_are_copied_whole(cli: Cli) -> None:
    cli.ok("topics", "create", "from")
    words = ["--key-separator", ":", "--header", "h=1", "--tombstone", "~"]
    cli.ok("produce", "from", *words, stdin=b"\xff:1\nb:~\n")
    first = cli.ok("consume", "from", "--no-wait", "--json")
    cli.ok("produce", "to", "--create", "--json", stdin=first.out.encode())
    second = cli.ok("consume", "to", "--no-wait", "--json")
    assert second.out.replace('"to"', '"from"') == first.out
    assert json.loads(second.lines[1])["value"] is None
    assert cli.ok("consume", "to", "--no-wait").lines == ["1", "null"]


def test_typed_rows_travel_as_json(cli: Cli) -> None:
    schema = (
        "id bigint not null, at timestamp, price decimal(10,2), tags array<string>,"
        " m map<string, int>, s struct<a: date, b: time>, raw binary"
    )
    cli.ok("topics", "create", "t", "--schema", schema)
    row = {
        "id": 1,
        "at": "2026-01-01T00:00:00+00:00",
        "price": "1.50",
        "tags": ["a", None],
        "m": [["k", 1]],
        "s": {"a": "2026-01-31", "b": "17:58:20.250000"},
        "raw": {"base64": "/w=="},
    }
    lines = json.dumps(row) + '\n{"id": 2, "at": 1767225600000, "m": {"k": 1}}\n'
    cli.ok("produce", "t", "--json-rows", stdin=lines.encode())
    first, second = map(json.loads, cli.ok("consume", "t", "--no-wait").lines)
    assert first == row
    assert (second["at"], second["m"], second["price"]) == (row["at"], row["m"], None)
    whole = cli.ok("consume", "t", "--no-wait", "--json").out
    cli.ok("produce", "t", "--json", stdin=whole.encode())
    assert cli.ok("consume", "t", "--from", "2", "--no-wait").lines == list(
        cli.ok("consume", "t", "--no-wait", "--max", "2").lines
    )


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ('{"id": "x"}', "has 'x' in the column \"id\", which is bigint"),
        ('{"id": 99999999999999999999}', "has 99999999999999999999 in the column"),
        ('{"id": 1, "price": "dear"}', 'in the column "price", which is decimal(10,2)'),
        ("{}", 'has nothing in the column "id"'),
        ('{"idd": 1}', 'Did you mean "id"?'),
        ("[1]", "is not a JSON object"),
        ("{", "is not JSON"),
    ],
)
def test_a_row_that_does_not_fit_is_named_by_its_line(cli: Cli, line: str, fact: str) -> None:
    cli.ok("topics", "create", "t", "--schema", "id bigint not null, price decimal(10,2)")
    ran = cli("produce", "t", stdin=f'{{"id": 7}}\n{line}\n'.encode())
    assert ran.code == 1
    assert "error [LINE_FORMAT] line 2 " in ran.err
    assert fact in ran.err
    assert '1 record appended to "t"\n' in ran.err
    assert len(cli.ok("consume", "t", "--no-wait").lines) == 1


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ('{"value": 3}', "has a value that is neither a string nor"),
        ('{"key": "k"}', 'has no member "value"'),
        ('{"value": "v", "vlue": "w"}', 'has the member "vlue"'),
        ('{"value": "v", "headers": [1]}', "has headers that are not a list of [name, value]"),
        ('{"value": "v", "timestamp": "soon"}', "has the timestamp 'soon'"),
    ],
)
def test_a_whole_record_that_is_none_is_refused(cli: Cli, line: str, fact: str) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("produce", "avg", "--json", stdin=line.encode())
    assert ran.code == 1
    assert "[LINE_FORMAT] line 1 " in ran.err
    assert fact in ran.err


@pytest.mark.parametrize(
    ("words", "code", "ending"),
    [
        (["--partition", "1"], "PARTITION_RANGE", 1),
        (["--header", "h"], "HEADER_FORMAT", 2),
        (["--timestamp", "soon"], "TIME_FORMAT", 2),
        (["--json-rows"], "TOPIC_UNTYPED", 2),
        (["--json", "--key-separator", ":"], "OPTIONS_CONFLICT", 2),
        (["--key-separator", ":"], "LINE_FORMAT", 1),
    ],
)
def test_produce_refuses_what_cannot_be(cli: Cli, words: list[str], code: str, ending: int) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("produce", "avg", *words, stdin=b"x\n")
    assert ran.code == ending
    assert f"error [{code}]" in ran.err
    assert cli.ok("consume", "avg", "--no-wait").out == ""


@pytest.mark.parametrize(
    ("words", "code", "ending"),
    [
        (["--from", "soon"], "PLACE_FORMAT", 2),
        (["--from", "9", "--no-wait"], "OFFSET_RANGE", 1),
        (["--from", "1", "--from-beginning"], "OPTIONS_CONFLICT", 2),
        (["--timeout", "1", "--no-wait"], "OPTIONS_CONFLICT", 2),
        (["--group", "g", "--partition", "0"], "OPTIONS_CONFLICT", 2),
        (["--json", "--raw"], "OPTIONS_CONFLICT", 2),
        (["--show", "kee"], "PART_NAME", 2),
        (["--partition", "1"], "PARTITION_RANGE", 1),
    ],
)
def test_consume_refuses_what_cannot_be(cli: Cli, words: list[str], code: str, ending: int) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("consume", "avg", *words)
    assert ran.code == ending
    assert ran.out == ""
    assert ran.err.startswith(f"error [{code}]")


def test_consume_begins_where_it_is_told(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    for day in (1, 2, 3):
        cli.ok("produce", "avg", "--timestamp", f"2026-01-0{day}", stdin=b"%d\n" % day)
    begins = {
        "1": ["2", "3"],
        "earliest": ["1", "2", "3"],
        "latest": [],
        "2026-01-01T12:00:00Z": ["2", "3"],
        "2027-01-01": [],
    }
    for begin, values in begins.items():
        assert cli.ok("consume", "avg", "--from", begin, "--no-wait").lines == values
    assert cli.ok("consume", "avg", "--timeout", "0").lines == []
    assert cli.ok("consume", "avg", "--from-beginning", "--timeout", "0").lines == ["1", "2", "3"]


def test_consume_of_one_partition(cli: Cli) -> None:
    cli.ok("topics", "create", "avg", "--partitions", "2")
    for number in (0, 1):
        cli.ok("produce", "avg", "--partition", str(number), stdin=b"%d\n" % number)
    assert cli.ok("consume", "avg", "--partition", "1", "--no-wait").lines == ["1"]


def test_a_group_goes_on_where_it_stopped(cli: Cli) -> None:
    cli.ok("topics", "create", "avg", "--partitions", "2")
    values = [str(number) for number in range(20)]
    cli.ok("produce", "avg", "--key-separator", "", stdin="\n".join(values).encode())
    words = ["consume", "avg", "--group", "g", "--no-wait"]
    seen = cli.ok(*words, "--max", "7").lines
    assert len(seen) == 7
    seen += cli.ok(*words, "--max", "4").lines
    seen += cli.ok(*words).lines
    assert sorted(seen) == sorted(values)
    assert cli.ok(*words).lines == []


def test_no_color_on_a_terminal_leaves_no_escape_codes(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    output, code = _on_terminal(["consume", "agv"], b"", NO_COLOR="1")
    assert code == 1
    assert b"\x1b" not in output
    assert b'Did you mean "avg"?' in output


def test_a_terminal_is_prompted_for_records(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    output, code = _on_terminal(["produce", "avg"], b"one\ntwo\n\x04")
    assert code == 0
    assert b"One record a line; Ctrl-D ends." in output
    assert output.count(b"> ") == 3
    assert b'2 records appended to "avg"' in output
    assert cli.ok("consume", "avg", "--no-wait").lines == ["one", "two"]


def test_a_terminal_is_asked_before_a_topic_goes(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    output, code = _on_terminal(["topics", "delete", "avg"], b"n\n")
    assert code == 1
    assert b'Delete topic "avg" with 0 records?' in output
    assert len(cli.ok("topics", "list", "--json").json) == 1
    assert _on_terminal(["topics", "delete", "avg"], b"y\n")[1] == 0
    assert cli.ok("topics", "list", "--json").json == []


def _on_terminal(words: list[str], typed: bytes, **more: str) -> tuple[bytes, int]:
    """Run a command on a terminal of its own; give what the terminal showed."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", *words],
        env=os.environ | more,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    with contextlib.suppress(OSError):  # how a terminal says that its last user has gone
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    return shown, process.wait(timeout=30)


def _wait_for_commit(cli: Cli) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        partitions = cli.ok("groups", "describe", "g", "--json").json["partitions"]
        if [item["committed"] for item in partitions] == [1]:
            return
    pytest.fail("the group never committed")
