from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.errors import TransactionError
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from tests.cli.shell import Cli


@pytest.fixture
def segment(cli: Cli) -> Path:
    """The only segment of a topic with three frames of one record."""
    cli.ok("topics", "create", "avg")
    for value in (b"one\n", b"two\n", b"three\n"):
        cli.ok("produce", "avg", stdin=value)
    return Path(".penstock/log/topics/avg/0/00000000000000000000.seg")


def test_info_says_where_the_log_is_and_what_is_in_it(
    cli: Cli, segment: Path, working_directory: Path
) -> None:
    facts = cli.ok("log", "info", "--json").json
    assert facts["directory"] == str(working_directory / ".penstock" / "log")
    assert (facts["topics"], facts["partitions"], facts["records"]) == (1, 1, 3)
    assert facts["size"] >= segment.stat().st_size
    text = cli.ok("log", "info").out
    assert f"directory          {facts['directory']}\n" in text
    assert "records            3\n" in text


def test_a_whole_log_verifies(cli: Cli, segment: Path) -> None:
    ran = cli.ok("log", "verify")
    assert (ran.out, ran.err) == ("", "1 topic: no damage found\n")
    assert cli.ok("log", "verify", "avg", "--json").json == []
    assert "[TOPIC_MISSING]" in cli("log", "verify", "agv").err


def test_a_flipped_bit_is_named_and_cut_out_only_on_request(cli: Cli, segment: Path) -> None:
    _flip(segment, segment.stat().st_size // 2)
    found = cli("log", "verify", "--json")
    assert found.code == 1
    assert found.json[0]["file"] == "topics/avg/0/00000000000000000000.seg"
    assert "damaged in 1 topic" in found.err
    assert cli("log", "verify").lines[0].split() == ["file", "byte", "what"]
    refused = cli("log", "repair")
    assert refused.code == 1
    assert "--cut-corrupt" in refused.err
    assert "[FRAME_CORRUPT]" in cli("consume", "avg", "--no-wait").err
    cli.ok("log", "repair", "--cut-corrupt")
    assert cli.ok("log", "verify").err == "1 topic: no damage found\n"
    assert cli.ok("consume", "avg", "--no-wait").lines == ["one", "three"]


def test_a_lost_head_is_rebuilt(cli: Cli, segment: Path) -> None:
    head = segment.with_name("head")
    head.write_bytes(bytes(head.stat().st_size))
    assert "[HEAD_CORRUPT]" in cli("consume", "avg", "--no-wait").err
    ran = cli.ok("log", "repair", "avg")
    assert "topics/avg/0/head" in ran.out
    assert cli.ok("consume", "avg", "--no-wait").lines == ["one", "two", "three"]
    assert cli.ok("log", "repair").err == "there was nothing to repair\n"


def test_transactions_are_listed_and_a_hanging_one_is_aborted(cli: Cli, segment: Path) -> None:
    with open_log(Path(".penstock")) as log:
        hanging = log.transaction("copy")
        hanging.begin()
        hanging.append("avg", 0, rows_of_bytes([b"done"]))
        hanging.commit("batch 7")
        hanging.begin()
        hanging.append("avg", 0, rows_of_bytes([b"never seen"]))
        (row,) = cli.ok("transactions", "list", "--json").json
        assert (row["id"], row["last"], row["note"]) == ("copy", "committed", "batch 7")
        assert row["open_in"] == ["avg-0"]
        assert "offsets 5 to 5" in cli.ok("topics", "describe", "avg").err
        ran = cli.ok("transactions", "abort", "copy")
        assert ran.err == 'the open transaction of "copy" is aborted and its holder fenced\n'
        with pytest.raises(TransactionError, match="WRITER_FENCED"):
            hanging.commit()
    assert cli.ok("transactions", "list").lines[1].split()[-1] == "-"
    assert cli.ok("consume", "avg", "--no-wait").lines == ["one", "two", "three", "done"]
    again = cli.ok("transactions", "abort", "copy")
    assert "had no open transaction" in again.err


def test_dump_shows_markers_and_what_was_aborted(cli: Cli, segment: Path) -> None:
    with open_log(Path(".penstock")) as log, log.transaction("copy") as transaction:
        transaction.begin()
        transaction.append("avg", 0, rows_of_bytes([b"gone"]))
        transaction.abort()
    lines = cli.ok("topics", "dump", "avg", "--frames", "--from", "3", "--json").lines
    shown = [json.loads(line) for line in lines]
    assert [item.get("frame") for item in shown[3:]] == ["data", None, "abort marker"]
    assert shown[4]["value"] == "gone"
    text = cli.ok("topics", "dump", "avg", "--frames", "--from", "3").out
    assert "abort marker, offset 4" in text
    assert "transaction 1" in text


def test_an_id_that_is_not_there_is_corrected(cli: Cli, segment: Path) -> None:
    with open_log(Path(".penstock")) as log:
        log.transaction("copy-job").close()
    ran = cli("transactions", "abort", "copy-jib")
    assert ran.code == 1
    assert "[TRANSACTION_MISSING]" in ran.err
    assert 'Did you mean "copy-job"?' in ran.err


def test_without_a_log_there_are_no_transactions(cli: Cli) -> None:
    assert cli.ok("transactions", "list", "--json").json == []
    assert cli("log", "info").code == 1


def _flip(file: Path, position: int) -> None:
    content = bytearray(file.read_bytes())
    content[position] ^= 1
    file.write_bytes(content)
