from __future__ import annotations

from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from tests.cli.shell import Cli


@pytest.fixture
def group(cli: Cli) -> str:
    """A group that has read two of the four records of a topic with two partitions."""
    cli.ok("topics", "create", "avg", "--partitions", "2")
    for number in (0, 1):
        for day in (1, 2):
            words = ["--partition", str(number), "--timestamp", f"2026-01-0{day}"]
            cli.ok("produce", "avg", *words, stdin=b"x\n")
    with open_log(Path(".penstock")) as log:
        log.commit("reports", {TopicPartition("avg", 0): 2, TopicPartition("avg", 1): 0})
    return "reports"


def committed(cli: Cli, group: str) -> list[int]:
    shown = cli.ok("groups", "describe", group, "--json").json
    return [item["committed"] for item in shown["partitions"]]


def test_groups_are_listed_with_their_lag(cli: Cli, group: str) -> None:
    assert cli.ok("groups", "list").lines == [
        "group    members  topics  lag",
        "reports  0        avg     2",
    ]
    assert cli.ok("groups", "list", "--json").json == [
        {"group": "reports", "members": 0, "topics": ["avg"], "lag": 2}
    ]


def test_without_groups_the_list_is_empty(cli: Cli) -> None:
    assert cli.ok("groups", "list", "--json").json == []
    assert "--group NAME" in cli.ok("groups", "list").err


def test_a_group_is_described(cli: Cli, group: str) -> None:
    lines = cli.ok("groups", "describe", group).lines
    assert lines[0].startswith("group reports, generation ")
    assert lines[2:] == [
        "no members",
        "",
        "topic  partition  committed  end  lag  member",
        "avg    0          2          2    0    -",
        "avg    1          0          2    2    -",
    ]


def test_a_member_is_shown_with_its_partitions(cli: Cli, group: str) -> None:
    with open_log(Path(".penstock")) as log:
        seat = log.join(group, ["avg"], client="tester")
        seat.heartbeat()
        shown = cli.ok("groups", "describe", group, "--json").json
        (member,) = shown["members"]
        assert member["client"] == "tester"
        assert member["assigned"] == [["avg", 0], ["avg", 1]]
        assert {item["member"] for item in shown["partitions"]} == {seat.member_id}
        assert seat.member_id in cli.ok("groups", "describe", group).out
        for words in (["reset", group, "--topic", "avg", "--to", "earliest"], ["delete", group]):
            ran = cli("groups", *words)
            assert ran.code == 1
            assert "[GROUP_ACTIVE]" in ran.err
        seat.leave()


@pytest.mark.parametrize(
    ("to", "offsets"),
    [("earliest", [0, 0]), ("latest", [2, 2]), ("1", [1, 1]), ("2026-01-01T12:00Z", [1, 1])],
)
def test_a_group_is_set_back(cli: Cli, group: str, to: str, offsets: list[int]) -> None:
    ran = cli.ok("groups", "reset", group, "--topic", "avg", "--to", to, "--json")
    assert [item["before"] for item in ran.json] == [2, 0]
    assert [item["after"] for item in ran.json] == offsets
    assert committed(cli, group) == offsets


def test_one_partition_is_set_back(cli: Cli, group: str) -> None:
    cli.ok("groups", "reset", group, "--topic", "avg", "--partition", "0", "--to", "1")
    assert committed(cli, group) == [1, 0]


def test_a_dry_run_changes_nothing(cli: Cli, group: str) -> None:
    ran = cli.ok("groups", "reset", group, "--topic", "avg", "--to", "latest", "--dry-run")
    assert ran.lines == [
        "topic  partition  before  after",
        "avg    0          2       2",
        "avg    1          0       2",
    ]
    assert "nothing was changed" in ran.err
    assert committed(cli, group) == [2, 0]


@pytest.mark.parametrize(
    ("words", "code", "ending"),
    [
        (["reports", "--topic", "avg", "--to", "9"], "OFFSET_RANGE", 1),
        (["reports", "--topic", "avg", "--to", "soon"], "PLACE_FORMAT", 2),
        (["reports", "--topic", "agv", "--to", "0"], "TOPIC_MISSING", 1),
        (["report", "--topic", "avg", "--to", "0"], "GROUP_MISSING", 1),
        (["reports", "--topic", "avg", "--partition", "2", "--to", "0"], "PARTITION_RANGE", 1),
    ],
)
def test_reset_refuses_what_cannot_be(
    cli: Cli, group: str, words: list[str], code: str, ending: int
) -> None:
    ran = cli("groups", "reset", *words)
    assert ran.code == ending
    assert ran.err.startswith(f"error [{code}]")
    assert committed(cli, group) == [2, 0]


def test_a_group_is_deleted(cli: Cli, group: str) -> None:
    misspelt = cli("groups", "delete", "report")
    assert misspelt.code == 1
    assert 'Did you mean "reports"?' in misspelt.err
    cli.ok("groups", "delete", group)
    assert cli.ok("groups", "list", "--json").json == []
