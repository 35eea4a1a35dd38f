"""Who leads a job with a standby: the places are taken, given up and taken over, without Spark."""

from __future__ import annotations

import json
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from penstock.errors import RunError, StateError, TransactionError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.spark.half_done import half_done, records_from_start
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.program_options import ProgramOptions
from penstock.spark.progress_file import Start, write_start
from penstock.spark.standby.pair import start_active
from penstock.spark.standby.seed import is_wanted, seed_wanted, want_seed
from penstock.spark.standby.source import StandbyReader
from penstock.spark.standby.station import Station, join
from penstock.spark.standby_files import (
    OWN,
    STANDBY,
    Lead,
    Sides,
    planned,
    require_no_lead,
    write_pair,
)
from tests.eventually import eventually

SOON = timedelta(seconds=0.1)


@pytest.fixture
def log(tmp_path: Path) -> EmbeddedLog:
    log = open_log(tmp_path / "home")
    log.create_topic("out")
    return log


def joined(checkpoint: Path, log: EmbeddedLog, *, takes_hung: bool = True) -> Station:
    station = join(checkpoint)
    assert station is not None
    station.publish_by(log, "program-x", takes_hung=takes_hung)
    return station


def offset(at: int, *, clock: int = 0) -> dict[str, object]:
    return {
        "topics": {"in": {"id": "t", "offsets": {"0": at}}},
        "clock": clock,
        "marks": {},
        "end": False,
    }


def plan_batch(sides: Sides, side: str, number: int, at: int, *, done: bool = True) -> None:
    """Write what Spark writes when a batch begins, and when it is done."""
    files = sides.files(side)
    for folder in ("offsets", "commits")[: 2 if done else 1]:
        (files.spark / folder).mkdir(parents=True, exist_ok=True)
        text = f"v2\n{{}}\ninputs:{json.dumps(offset(at))}"
        (files.spark / folder / str(number)).write_text(text)


def test_a_standby_takes_over_when_the_lead_dies_but_not_when_it_rests(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    checkpoint = tmp_path / "job"
    lead, standby = joined(checkpoint, log), joined(checkpoint, log)
    lead.begin()
    standby.begin()
    plan_batch(lead.sides, OWN, 4, 10)
    lead.rest()
    lead.close()
    time.sleep(0.2)
    assert not standby.leads
    again = joined(checkpoint, log)
    assert (again.leads, again.side) == (True, OWN)
    again.begin()
    plan_batch(lead.sides, STANDBY, 4, 10)
    plan_batch(lead.sides, OWN, 5, 25, done=False)
    taken: list[int] = []
    standby.on_takeover = lambda takeover: taken.append(takeover.replayed)
    again.close()
    eventually(lambda: standby.leads)
    assert standby.sides.lead == Lead(STANDBY, 1, 5, ready=True)
    eventually(lambda: taken == [15])
    standby.close()


def test_who_only_asks_whether_somebody_leads_does_not_lead(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    joined(tmp_path / "job", log).close()
    asking = Sides(tmp_path / "job").lead_lock(0)
    assert asking.acquire(0)
    done = threading.Timer(SOON.total_seconds(), asking.release)
    done.start()
    again = joined(tmp_path / "job", log)
    done.join()
    assert again.leads
    again.close()
    asking.close()


def test_a_lead_that_hangs_is_fenced_when_its_standby_takes_over(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    lead, standby = (joined(tmp_path / "job", log) for _ in range(2))
    lead.begin()
    # Its thread shows signs of life no more.
    lead.end()
    standby.begin(SOON)
    lead.transaction.begin()
    lead.transaction.append("out", 0, rows_of_bytes([b"old"]))
    eventually(lambda: standby.leads)
    assert standby.takeover is not None
    assert standby.takeover.hung
    with pytest.raises(TransactionError, match="WRITER_FENCED"):
        lead.transaction.commit("7")
    with pytest.raises(RunError, match="STANDBY_LEADS"):
        lead.before_batch()
    with pytest.raises(RunError, match="STANDBY_TAKEN"):
        require_no_lead(tmp_path / "job")
    # Its side is still in use: nobody may write there.
    with pytest.raises(RunError, match="STANDBY_TAKEN"):
        join(tmp_path / "job")
    standby.transaction.begin()
    standby.transaction.commit("7")
    lead.close()
    standby.close()
    require_no_lead(tmp_path / "job")
    require_no_lead(tmp_path / "another")


def test_a_lead_whose_tables_are_in_a_store_is_not_taken_for_dead_while_it_lives(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    lead, standby = (joined(tmp_path / "job", log, takes_hung=False) for _ in range(2))
    lead.begin()
    lead.end()
    standby.begin(SOON)
    time.sleep(0.3)
    assert not standby.leads
    standby.close()
    lead.close()


def test_a_standby_publishes_only_what_a_dead_lead_has_not(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    lead, standby = (joined(tmp_path / "job", log) for _ in range(2))
    plan_batch(lead.sides, OWN, 0, 10)
    plan_batch(lead.sides, OWN, 1, 20)
    assert not lead.is_followed
    plan_batch(lead.sides, STANDBY, 0, 10)
    assert (lead.is_followed, standby.is_followed) == (True, False)
    assert lead.may_publish(0)
    assert not standby.may_publish(0)
    ended: list[str] = []

    def wait() -> None:
        try:
            standby.may_publish(2)
        except RunError as error:
            ended.append(error.code)

    thread = threading.Thread(target=wait)
    thread.start()
    standby.end()
    thread.join()
    assert ended == ["STANDBY_ENDED"]
    standby.close()
    assert not lead.is_followed
    lead.close()


def test_a_side_is_given_all_that_the_lead_has_under_another_id(
    tmp_path: Path, log: EmbeddedLog
) -> None:
    sides = Sides(tmp_path / "job")
    plan_batch(sides, OWN, 0, 10)
    files = sides.files(OWN)
    (files.spark / "metadata").write_text('{"id":"one"}')
    (files.spark / ".half.tmp").write_text("")
    (files.memory / "op").mkdir(parents=True)
    (files.memory / "op" / "1-a.state").write_text("state")
    seed_wanted(sides, OWN)
    assert not (tmp_path / "job" / "standby").exists()
    want_seed(sides, STANDBY)
    seed_wanted(sides, OWN)
    assert not is_wanted(sides)
    copy = sides.files(STANDBY)
    assert planned(copy, 0) == offset(10)
    assert copy.committed == 0
    assert (copy.memory / "op" / "1-a.state").read_text() == "state"
    assert json.loads((copy.spark / "metadata").read_text())["id"] != "one"
    assert not (copy.spark / ".half.tmp").exists()


def test_a_standby_follows_the_plan_of_its_lead_and_is_refused_where_that_is_gone(
    tmp_path: Path,
) -> None:
    sides = Sides(tmp_path / "job")
    sides.write_lead(Lead(ready=True))
    files = sides.files(STANDBY)
    files.folder.mkdir(parents=True)
    write_pair(files, sides, STANDBY)
    options = ProgramOptions(
        home=str(tmp_path), program="", folder=str(files.folder), job="x", scans=()
    )
    reader = StandbyReader(options, open_log)
    assert reader.latestOffset(offset(0), None) == offset(0)  # type: ignore[arg-type]
    plan_batch(sides, OWN, 0, 10)
    assert reader.latestOffset(offset(0), None) == offset(10)  # type: ignore[arg-type]
    plan_batch(sides, STANDBY, 0, 10)
    plan_batch(sides, OWN, 3, 40)
    with pytest.raises(StateError, match="STANDBY_BEHIND"):
        reader.latestOffset(offset(10), None)  # type: ignore[arg-type]
    plan_batch(sides, OWN, 1, 20, done=False)
    sides.write_lead(Lead(STANDBY, 1, inherited=1, ready=True))
    assert reader.latestOffset(offset(10), None) == offset(20)  # type: ignore[arg-type]


def test_one_without_a_program_needs_somebody_to_follow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.spark.standby.pair._PATIENCE", 0.0)
    with pytest.raises(RunError, match="STANDBY_NO_LEAD"):
        start_active(None, home=tmp_path, checkpoint=tmp_path / "job")


def test_what_is_half_done_is_counted_in_records(tmp_path: Path) -> None:
    sides = Sides(tmp_path / "job")
    assert half_done(tmp_path / "job").records == 0
    plan_batch(sides, OWN, 0, 10)
    assert half_done(tmp_path / "job").records == 0
    plan_batch(sides, OWN, 1, 35, done=False)
    found = half_done(tmp_path / "job")
    assert (found.batch, found.records) == (1, 25)
    write_start(sides.files(OWN).start, Start(ProgramOffset.from_json(offset(5))))
    assert records_from_start(tmp_path / "job", found) == 30
