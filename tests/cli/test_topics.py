from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Cli, shell


def test_a_topic_is_created_listed_and_described(cli: Cli) -> None:
    created = cli.ok("topics", "create", "avg", "--partitions", "3")
    assert (created.out, created.err) == ("", 'topic "avg" created with 3 partitions\n')
    assert cli.ok("topics", "list").lines == [
        "topic  partitions  records  cleanup  values",
        "avg    3           0        delete   bytes",
    ]
    described = cli.ok("topics", "describe", "avg").lines
    assert described[0].startswith("topic avg, created 20")
    assert described[2].split() == (
        ["partition", "start", "end", "records", "size", "segments", "oldest", "newest"]
    )
    assert described[3].split() == ["0", "0", "0", "0", "0", "B", "1", "-", "-"]


def test_an_existing_topic_is_refused_unless_that_is_fine(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    again = cli("topics", "create", "avg")
    assert again.code == 1
    assert again.err.startswith('error [TOPIC_EXISTS] topic "avg" exists already\n')
    assert "nothing was changed" in cli.ok("topics", "create", "avg", "--if-not-exists").err


@pytest.mark.parametrize(
    ("option", "fact"),
    [
        (["--partitions", "3"], "exists with 1 partition, not 3"),
        (["--schema", "id bigint"], "exists with no schema"),
    ],
)
def test_an_existing_topic_that_differs_is_not_fine(cli: Cli, option: list[str], fact: str) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("topics", "create", "avg", "--if-not-exists", *option)
    assert ran.code == 1
    assert "[TOPIC_DIFFERS]" in ran.err
    assert fact in ran.err


def test_settings_are_given_shown_and_changed(cli: Cli) -> None:
    settings = ["--set", "retention=1h30m", "--set", "segment-bytes=64KiB", "--set", "fsync=os"]
    cli.ok("topics", "create", "avg", *settings)
    cli.ok("topics", "set", "avg", "retention=none", "cleanup=compact,delete", "min_dirty_ratio=1")
    text = cli.ok("topics", "describe", "avg").out
    shown = {words[0]: words[1:] for words in map(str.split, text.splitlines()) if words}
    assert shown["retention"] == ["none", "default"]
    assert shown["segment_bytes"] == ["64KiB", "set"]
    assert shown["cleanup"] == ["compact,delete", "set"]
    assert shown["min_dirty_ratio"] == ["1.0", "set"]
    settings_now = cli.ok("topics", "describe", "avg", "--json").json["settings"]
    assert settings_now["segment_age"] == 7 * 86400
    assert settings_now["fsync"] == "os"


@pytest.mark.parametrize(
    ("word", "code", "ending"),
    [
        ("retention=soon", "DURATION_FORMAT", 2),
        ("segment_bytes=much", "SIZE_FORMAT", 2),
        ("min_dirty_ratio=half", "SETTING_FORMAT", 2),
        ("retention", "SETTING_FORMAT", 2),
        ("retenton=7d", "TOPIC_SETTING", 1),
        ("cleanup=never", "TOPIC_SETTING", 1),
    ],
)
def test_a_setting_that_cannot_be_is_refused(cli: Cli, word: str, code: str, ending: int) -> None:
    cli.ok("topics", "create", "avg")
    for ran in (cli("topics", "set", "avg", word), cli("topics", "create", "b", "--set", word)):
        assert ran.code == ending
        assert ran.err.startswith(f"error [{code}]")
    assert len(cli.ok("topics", "list", "--json").json) == 1


def test_the_number_of_partitions_never_changes(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("topics", "set", "avg", "partitions=3")
    assert ran.code == 1
    assert "[PARTITIONS_FIXED]" in ran.err
    assert "--partitions 3" in ran.err


def test_a_schema_is_given_and_shown(cli: Cli, tmp_path: Path) -> None:
    cli.ok("topics", "create", "clicks", "--schema", "user bigint not null, page string")
    assert cli.ok("topics", "describe", "clicks").lines[-3:] == [
        "column  type    nullable",
        "user    bigint  no",
        "page    string  yes",
    ]
    schema = cli.ok("topics", "describe", "clicks", "--json").json["schema"]
    (tmp_path / "same.json").write_text(json.dumps(schema))
    cli.ok("topics", "create", "clicks", "--if-not-exists", "--schema", "same.json")


def test_a_misspelt_topic_is_corrected(cli: Cli) -> None:
    cli.ok("topics", "create", "page-views")
    for words in (["describe"], ["dump"], ["delete", "--yes"], ["clean"]):
        ran = cli("topics", words[0], "page-view", *words[1:])
        assert ran.code == 1
        assert ran.err == (
            'error [TOPIC_MISSING] topic "page-view" does not exist\n  Did you mean "page-views"?\n'
        )


def test_without_a_log_lists_are_empty_and_nothing_is_made(
    cli: Cli, working_directory: Path
) -> None:
    assert cli.ok("topics", "list", "--json").json == []
    assert "topics create" in cli.ok("topics", "list").err
    ran = cli("topics", "describe", "avg")
    assert ran.code == 1
    assert "[LOG_MISSING]" in ran.err
    assert list(working_directory.iterdir()) == []


def test_a_home_that_is_a_file_is_told(cli: Cli, working_directory: Path) -> None:
    (working_directory / "file").touch()
    ran = cli("--home", "file", "topics", "list")
    assert ran.code == 1
    assert "[STORAGE_FAILED]" in ran.err


def test_home_names_the_log_from_anywhere_on_the_line(cli: Cli, working_directory: Path) -> None:
    cli.ok("topics", "create", "avg", "--home", "elsewhere")
    assert (working_directory / "elsewhere" / "log").is_dir()
    assert cli.ok("topics", "list", "--json").json == []
    assert len(cli.ok("--home=elsewhere", "topics", "list", "--json").json) == 1


def test_a_topic_is_deleted_only_on_request(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    refused = cli("topics", "delete", "avg")
    assert refused.code == 2
    assert "[CONFIRMATION_NEEDED]" in refused.err
    assert cli.ok("topics", "delete", "avg", "--yes").err == 'topic "avg" deleted\n'
    assert cli.ok("topics", "list", "--json").json == []


def test_clean_compacts_now(cli: Cli) -> None:
    cli.ok("topics", "create", "users", "--set", "cleanup=compact")
    cli.ok("produce", "users", "--key-separator", ":", stdin=b"a:1\nb:2\na:3\n")
    assert "0 records removed" in cli.ok("topics", "clean", "users").err
    assert "1 record removed" in cli.ok("topics", "clean", "users", "--include-active").err
    shown = cli.ok("consume", "users", "--no-wait", "--show", "offset,key")
    assert shown.lines == ["1\tb\t2", "2\ta\t3"]


def test_dump_shows_the_anatomy_of_a_topic(cli: Cli) -> None:
    cli.ok("topics", "create", "avg", "--partitions", "2")
    words = ["--key-separator", ":", "--timestamp", "2026-01-01T00:00:00Z", "--header", "h=1"]
    cli.ok("produce", "avg", "--partition", "0", *words, stdin=b"k:one\nk:two\n")
    file = "topics/avg/0/00000000000000000000.seg"
    lines = cli.ok("topics", "dump", "avg", "--frames").lines
    assert lines[:2] == ["topic avg, 2 partitions", "  partition 0, offsets 0 to 1"]
    assert lines[2].startswith(f"    segment {file}, offsets 0 to 1, ")
    assert lines[2].endswith(", active")
    assert lines[3].startswith("      frame at byte 0, offsets 0 to 1, ")
    assert lines[4:] == [
        "        0  2026-01-01T00:00:00.000Z  k  one  (h=1)",
        "        1  2026-01-01T00:00:00.000Z  k  two  (h=1)",
        "  partition 1, empty at offset 0",
    ]
    assert "frame" not in cli.ok("topics", "dump", "avg").out


def test_dump_as_json_is_one_object_a_line(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", stdin=b"one\n")
    objects = [
        json.loads(line) for line in cli.ok("topics", "dump", "avg", "--frames", "--json").lines
    ]
    kinds = [item["kind"] for item in objects]
    assert kinds == ["topic", "partition", "segment", "frame", "record"]
    assert (objects[4]["offset"], objects[4]["value"]) == (0, "one")


def test_dump_is_bounded_and_says_how_to_see_more(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    cli.ok("produce", "avg", stdin=b"".join(b"%d\n" % number for number in range(150)))
    cut = cli.ok("topics", "dump", "avg")
    assert len(cut.lines) == 3 + 100
    assert cut.err == "100 records shown; see more with --max N, --from OFFSET or --all\n"
    whole = cli.ok("topics", "dump", "avg", "--all")
    assert len(whole.lines) == 3 + 150
    assert whole.err == ""
    some = cli.ok("topics", "dump", "avg", "--from", "148", "--max", "2")
    assert [line.split()[-1] for line in some.lines[3:]] == ["148", "149"]
    assert some.err == ""


def test_dump_of_a_partition_that_is_not_there_prints_nothing(cli: Cli) -> None:
    cli.ok("topics", "create", "avg")
    ran = cli("topics", "dump", "avg", "--partition", "1")
    assert (ran.code, ran.out) == (1, "")
    assert "[PARTITION_RANGE]" in ran.err


def test_describe_counts_segments(cli: Cli) -> None:
    cli.ok("topics", "create", "avg", "--set", "segment_bytes=1KiB")
    for _ in range(4):
        cli.ok("produce", "avg", stdin=b"x" * 400 + b"\n")
    part = cli.ok("topics", "describe", "avg", "--json").json["partitions"][0]
    assert (part["start"], part["end"]) == (0, 4)
    assert len(part["segments"]) > 1
    assert sum(segment["records"] for segment in part["segments"]) == 4
    shown = cli.ok("topics", "describe", "avg", "--segments").lines
    assert sum(line.startswith("topics/avg/0/") for line in shown) == len(part["segments"])


@pytest.mark.parametrize(
    "words",
    [
        ["topics"],
        ["topics", "create"],
        ["topics", "list"],
        ["topics", "describe"],
        ["topics", "dump"],
        ["topics", "set"],
        ["topics", "clean"],
        ["topics", "delete"],
        ["produce"],
        ["consume"],
        ["groups"],
        ["groups", "list"],
        ["groups", "describe"],
        ["groups", "reset"],
        ["groups", "delete"],
        ["log"],
        ["log", "info"],
        ["log", "verify"],
        ["log", "repair"],
        ["transactions"],
        ["transactions", "list"],
        ["transactions", "abort"],
    ],
)
def test_every_help_has_examples(cli: Cli, words: list[str]) -> None:
    text = cli.ok(*words, "--help").out
    assert "Examples:" in text
    assert f"$ penstock {words[0]}" in text or "| penstock produce" in text


@pytest.mark.parametrize("words", [["topic"], ["topics", "creat"], ["topics", "create"]])
def test_a_wrong_command_line_is_a_usage_error(cli: Cli, words: list[str]) -> None:
    assert cli(*words).code == 2


@pytest.mark.slow
def test_the_shell_completes_topics_and_groups(cli: Cli) -> None:
    for name in ("avg", "avocado", "other"):
        cli.ok("topics", "create", name)
    cli.ok("consume", "avg", "--group", "reports", "--no-wait")
    assert _completions("penstock consume av") == ["avg", "avocado"]
    assert _completions("penstock topics describe o") == ["other"]
    assert _completions("penstock groups describe r") == ["reports"]


def _completions(line: str) -> list[str]:
    count = len(line.split()) - 1
    asked = f'_PENSTOCK_COMPLETE=complete_bash COMP_WORDS="{line}" COMP_CWORD={count}'
    return shell(f"env {asked} {sys.executable} -m penstock").stdout.split()
