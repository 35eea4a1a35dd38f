from __future__ import annotations

from pathlib import Path
from socket import socket

import pytest

from penstock.config import load_settings
from penstock.log.embedded.home import open_home
from penstock.log.mirroring import copy_topics
from penstock.log.offset_map import MAP_TOPIC
from penstock.log.open import open_log
from penstock.log.port import ReadLimit
from penstock.log.rows import rows_of_bytes
from tests.cli.shell import Cli
from tests.jobs.test_migration import CLICKS, fill
from tests.kafka.emptied import EmptiedBroker


def test_a_move_without_a_cluster_is_refused(cli: Cli) -> None:
    ran = cli("migrate", "--to", "elsewhere")
    assert (ran.code, "MIGRATE_TARGET" in ran.err) == (2, True)


@pytest.mark.slow
def test_a_dry_run_tells_what_stands_in_the_way_at_the_cluster(
    cli: Cli, emptied_broker: EmptiedBroker
) -> None:
    with open_home(load_settings().home) as log:
        fill(log)
    with open_log(emptied_broker.bind(Path("elsewhere"))) as there:
        there.create_topic("clicks", partitions=7)
        before = there.topics()
        refused = cli("migrate", "--to", emptied_broker.address, "--dry-run")
        assert "MIRROR_PARTITIONS" in refused.err
        assert there.topics() == before
    with socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = f"kafka://127.0.0.1:{nobody.getsockname()[1]}"
        assert "KAFKA_UNREACHABLE" in cli("migrate", "--to", address, "--dry-run").err


@pytest.mark.slow
def test_topics_groups_and_the_setting_move_also_after_a_kill(
    cli: Cli, emptied_broker: EmptiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = load_settings().home
    with open_home(home) as log:
        fill(log)
        third = log.bounds("clicks", 0).end - 2
        log.commit("readers", {CLICKS: third})
        before = log.snapshot(["clicks"])
    words = ("migrate", "--to", emptied_broker.address)
    planned = cli.ok(*words, "--dry-run", "--json").json
    assert (planned["groups"], planned["copied"]) == (["readers"], [])
    with monkeypatch.context() as patch:
        patch.setattr("penstock.jobs.migration.write_log_setting", _die)
        assert cli(*words).code == 1
    assert load_settings().log == ""
    assert cli.ok(*words, "--json").json["copied"][0]["records"] == 0
    assert load_settings().log == emptied_broker.address
    with open_log() as log, open_home(home) as old:
        assert MAP_TOPIC in log.topics()
        at = log.committed("readers")[CLICKS]
        found = log.read("clicks", 0, at, ReadLimit()).rows.column("value").to_pylist()
        assert found == [b"4", b"5"]
        assert old.snapshot(["clicks"]) == before
    assert "MIGRATE_SOURCE" in cli(*words).err


@pytest.mark.slow
def test_a_log_that_is_written_to_meanwhile_is_not_left(
    cli: Cli, emptied_broker: EmptiedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_home(load_settings().home) as log:
        fill(log)
        kept = copy_topics

        def copy(*routes: object, **how: object) -> object:
            yield from kept(*routes, **how)  # type: ignore[arg-type]
            log.append("clicks", 0, rows_of_bytes([b"late"]))

        with monkeypatch.context() as patch:
            patch.setattr("penstock.jobs.migration.copy_topics", copy)
            assert "MIGRATE_WRITTEN" in cli("migrate", "--to", emptied_broker.address).err
    assert "1 record copied" in cli.ok("migrate", "--to", emptied_broker.address).err


def _die(*_: object) -> None:
    raise OSError
