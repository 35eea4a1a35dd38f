from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.errors import JobError
from penstock.jobs.definition import Definition, Event, checkpoint_of
from penstock.jobs.definitions import DefinitionStore, definition_store
from penstock.log.embedded.memory import MemoryStorage
from penstock.model.job_settings import JobSettings, Restart

SETTINGS = JobSettings(
    guarantee="at-least-once", latency=timedelta(seconds=0.5), restart=Restart(tries=2)
)
SHOP = Definition("shop", "shop.py", "shop", "ann", 1, "0123", 5, 5, settings=SETTINGS)
SUBMITTED = Event(5, "ann", "submitted", "shop.py")


def a_store() -> DefinitionStore:
    return DefinitionStore(MemoryStorage())


def test_a_definition_is_read_as_it_was_written() -> None:
    store = a_store()
    store.put(SHOP, SUBMITTED, b"program")
    assert store.get("shop") == store.find("shop") == SHOP
    assert store.all() == (SHOP,)
    assert store.program("shop", 1) == b"program"
    assert store.history("shop") == (SUBMITTED,)


def test_a_change_is_told_and_moves_the_time_of_the_change() -> None:
    store = a_store()
    store.put(SHOP, SUBMITTED)
    paused = Event(9, "bob", "paused")
    changed = store.change("shop", paused, lambda found: replace(found, wish="paused"))
    assert store.get("shop") == changed == replace(SHOP, wish="paused", changed_at=9)
    saved = Event(11, "bob", "saved", "there")
    store.tell("shop", saved)
    assert store.get("shop").changed_at == 9
    assert store.history("shop") == (SUBMITTED, paused, saved)


def test_programs_of_versions_are_kept_until_forgotten() -> None:
    store = a_store()
    for version in (1, 2, 10):
        store.put(replace(SHOP, version=version), SUBMITTED, b"%d" % version)
    assert store.versions("shop") == (1, 2, 10)
    store.forget_version("shop", 2)
    assert store.versions("shop") == (1, 10)
    with pytest.raises(JobError, match="JOB_VERSION"):
        store.program("shop", 2)


def test_what_does_not_exist_is_named_with_what_was_perhaps_meant() -> None:
    store = a_store()
    store.put(SHOP, SUBMITTED)
    assert store.find("shopp") is None
    with pytest.raises(JobError, match="JOB_MISSING") as caught:
        store.get("shopp")
    assert caught.value.hint == 'Did you mean "shop"?'
    store.remove("shop")
    assert store.names() == ()


def test_a_file_that_is_no_definition_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "definitions" / "shop"
    place.mkdir(parents=True)
    (place / "definition.json").write_text("[1]")
    with pytest.raises(JobError, match="JOB_UNREADABLE"):
        definition_store(tmp_path).get("shop")


def test_fields_of_a_newer_version_are_left_out(tmp_path: Path) -> None:
    store = definition_store(tmp_path)
    store.put(SHOP, SUBMITTED)
    file = tmp_path / "definitions" / "shop" / "definition.json"
    file.write_text(file.read_text().replace('"owner"', '"colour": 1, "owner"'))
    assert store.get("shop") == SHOP


def test_a_checkpoint_lies_beside_the_log_unless_said_otherwise() -> None:
    assert checkpoint_of(Path("home"), SHOP) == Path("home/jobs/shop")
    assert checkpoint_of(Path("home"), replace(SHOP, checkpoint="/data")) == Path("/data")
