"""What Kafka does not tell of a topic or a group is shown as not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.serve.api.topics import topic_shown
from penstock.serve.pages.topic_facts import topic_facts
from penstock.serve.pages.topics import topic_rows
from penstock.watch.log_metrics import ends_of, log_families
from tests.cli.shell import Cli
from tests.kafka.emptied import EmptiedBroker

pytestmark = pytest.mark.slow


@pytest.fixture
def home(working_directory: Path, emptied_broker: EmptiedBroker) -> Path:
    return emptied_broker.bind(working_directory / ".penstock")


def test_commands_say_what_is_not_known(cli: Cli, home: Path) -> None:
    cli.ok("topics", "create", "clicks")
    cli.ok("produce", "clicks", stdin=b"a\nb\n")
    told = cli.ok("topics", "list").lines[1].split()
    assert told == ["clicks", "1", "not", "known", "delete", "bytes"]
    assert cli.ok("topics", "list", "--json").json[0]["records"] is None
    shown = cli.ok("topics", "describe", "clicks", "--segments").out
    assert (shown.count("not known"), "segment (*" in shown) == (5, False)
    (partition,) = cli.ok("topics", "describe", "clicks", "--json").json["partitions"]
    assert partition == {"partition": 0, "start": 0, "end": 2, "log_end": 2, "segments": []}
    assert [line.split()[-1] for line in cli.ok("topics", "dump", "clicks", "--frames").lines] == [
        "partition",
        "1",
        "a",
        "b",
    ]
    ran = cli("topics", "delete", "clicks")
    assert "CONFIRMATION_NEEDED" in ran.err


def test_a_topic_of_others_was_made_at_a_time_that_is_not_known(
    cli: Cli, home: Path, emptied_broker: EmptiedBroker
) -> None:
    emptied_broker.make("theirs")
    assert (
        cli.ok("topics", "describe", "theirs")
        .lines[0]
        .startswith("topic theirs, created not known")
    )
    assert cli.ok("topics", "describe", "theirs", "--json").json["created_at"] is None


def test_a_group_tells_neither_generation_nor_heartbeats(cli: Cli, home: Path) -> None:
    cli.ok("topics", "create", "clicks")
    with open_log(home) as log:
        seat = log.join("readers", ["clicks"])
        while not seat.owned:
            seat.wait(0.1)
            seat.heartbeat()
        shown = cli.ok("groups", "describe", "readers")
        seat.leave()
    assert shown.lines[0].startswith("group readers, generation not known")
    assert "1970" not in shown.out


def test_pages_and_the_api_and_metrics_say_what_is_not_known(cli: Cli, home: Path) -> None:
    cli.ok("topics", "create", "clicks")
    cli.ok("produce", "clicks", stdin=b"a\n")
    with open_log(home) as log:
        (row,) = topic_rows(log)
        facts = topic_facts(log, "clicks")
        (part,) = topic_shown(log, log.topic("clicks")).partitions
        families = {family.name: family.samples for family in log_families(log, ends_of(log))}
    assert [row[name] for name in ("count", "size", "last")] == ["not known"] * 3
    assert facts.partitions == ((0, 0, 1, *["not known"] * 5),)
    assert (part.records, part.bytes, part.segments, part.newest) == (None,) * 4
    assert [sample.value for sample in families["penstock_topic_end_offset"]] == [1]
    for told in ("bytes", "records", "segments"):
        assert families[f"penstock_topic_{told}"] == ()
