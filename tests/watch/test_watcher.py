from __future__ import annotations

import datetime as dt
import json
import time
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.errors import RunError, TopicError
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from penstock.log.open import open_log
from penstock.watch.ledger import alerts_in
from penstock.watch.lineage import JobLineage
from penstock.watch.rule import Rule
from penstock.watch.rule_document import alert_rule
from penstock.watch.watcher import Watch, Watcher
from tests.jobs.records import JOB
from tests.watch.scenes import ERRORS, MINUTE, SECOND, Scene

P1, P2 = '{"_key":"P1"}', '{"_key":"P2"}'


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def failing(**said: object) -> Rule:
    words: dict[str, object] = {"table": "errors", "when": "count > 10", "to": "mail:ops@b.c"}
    return alert_rule("failing", **{**words, **said})  # type: ignore[arg-type]


def test_the_last_row_of_each_key_is_what_a_rule_on_a_table_sees(scene: Scene) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12}, {"pageid": "P2", "count": 99})
    scene.put("errors", {"pageid": "P2", "count": 1}, {"pageid": "P3", "count": None})
    with scene.watch(failing(clear="count < 5")) as watch:
        assert scene.look(watch) == [("firing", P1)]
        scene.put("errors", {"pageid": "P1", "count": 7}, {"pageid": "P2", "count": 11})
        assert scene.look(watch) == [("firing", P2)]
        scene.put("errors", {"pageid": "P1", "count": 4})
        assert scene.look(watch) == [("resolved", P1)]
        scene.delete("errors", "P2")
        assert scene.look(watch) == [("resolved", P2)]
        assert scene.look(watch) == []


def test_rows_that_a_changelog_takes_back_are_gone(scene: Scene) -> None:
    schema = ERRORS.append(pa.field("_weight", pa.int32()))
    scene.topic("errors", schema)
    with scene.watch(failing(key=["pageid"])) as watch:
        scene.put("errors", {"pageid": "P1", "count": 12, "_weight": 1}, schema=schema)
        assert scene.look(watch) == [("firing", '{"pageid":"P1"}')]
        scene.put("errors", {"pageid": "P1", "count": 12, "_weight": -1}, schema=schema)
        assert scene.look(watch) == [("resolved", '{"pageid":"P1"}')]


def test_an_alert_is_not_told_twice_after_a_restart_and_its_time_runs_on(scene: Scene) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    rule = failing(lasting="1 minute")
    with scene.watch(rule) as watch:
        assert scene.look(watch) == [("pending", P1)]
    with scene.watch(rule) as watch:
        assert scene.look(watch, 30 * SECOND) == []
        assert scene.look(watch, 30 * SECOND) == [("firing", P1)]
        scene.look(watch, 5 * SECOND)
    with scene.watch(rule) as watch:
        assert scene.look(watch, MINUTE) == []
        scene.put("errors", {"pageid": "P1", "count": 0})
        assert scene.look(watch) == [("resolved", P1)]
        scene.look(watch, 5 * SECOND)
    assert scene.box.told() == [[("firing", P1)], [("resolved", P1)]]


def test_what_was_written_down_but_not_told_is_told_by_who_watches_next(scene: Scene) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    with scene.watch(failing()) as watch:
        watch.look()
    with scene.watch(failing()) as watch:
        scene.look(watch)
        scene.look(watch, 5 * SECOND)
    assert scene.box.told() == [[("firing", P1)]]


def test_an_alert_is_a_typed_row_of_a_topic(scene: Scene) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    with scene.watch(failing(to=["topic:mine"], group_by=["pageid"])) as watch:
        (alert,) = watch.look()
    with open_log(scene.home) as log:
        assert alerts_in(log, "mine") == {("failing", P1): alert}
        schema = log.topic("mine").schema
        assert schema is not None
        assert schema.names == [
            "rule", "state", "key", "group", "value", "since", "at", "notice", "message", "id",
        ]  # fmt: skip
    assert (alert.group, alert.value) == (
        '{"pageid": "P1"}',
        '{"_key": "P1", "pageid": "P1", "count": 12}',
    )


def test_each_row_of_a_stream_counts_once_whoever_watches(scene: Scene) -> None:
    scene.topic("clicks")
    scene.put("clicks", {"pageid": "P0", "count": 50})
    rule = alert_rule("big", stream="clicks", when="count > 10", resolve_after="1 minute")
    with scene.watch(rule) as watch:
        assert scene.look(watch) == []
        scene.put("clicks", {"pageid": "P1", "count": 50}, {"pageid": "P1", "count": 1})
        assert scene.look(watch) == [("firing", P1)]
    with scene.watch(rule) as watch:
        assert scene.look(watch, SECOND) == []
        scene.put("clicks", {"pageid": "P2", "count": 50})
    with scene.watch(rule) as watch:
        assert scene.look(watch, SECOND) == [("firing", P2)]
        scene.look(watch)
        assert scene.look(watch, MINUTE) == [("resolved", P1), ("resolved", P2)]


def test_a_row_that_says_so_ends_the_alert_of_a_stream(scene: Scene) -> None:
    scene.topic("clicks")
    rule = alert_rule("big", stream="clicks", when="count > 10", clear="count = 0")
    with scene.watch(rule) as watch:
        assert scene.look(watch) == []
        scene.put("clicks", {"pageid": "P1", "count": 50})
        assert scene.look(watch) == [("firing", P1)]
        scene.put("clicks", {"pageid": "P1", "count": 1})
        assert scene.look(watch, MINUTE) == []
        scene.put("clicks", {"pageid": "P1", "count": 0})
        assert scene.look(watch) == [("resolved", P1)]


def test_all_rows_of_a_stream_that_was_not_there_are_news(scene: Scene) -> None:
    rule = alert_rule("big", stream="clicks", when="count > 10")
    with scene.watch(rule) as watch:
        assert scene.look(watch) == []
        scene.topic("clicks")
        scene.put("clicks", {"pageid": "P1", "count": 50})
        assert scene.look(watch, 5 * SECOND) == [("firing", P1)]


def test_a_topic_to_which_nothing_comes_is_noticed(scene: Scene) -> None:
    rule = alert_rule("silent", stream="clicks", absent="5 minutes")
    with scene.watch(rule) as watch:
        assert scene.look(watch) == [("firing", "{}")]
        scene.topic("clicks", partitions=2)
        scene.put("clicks", {"pageid": "P1", "count": 1})
        assert scene.look(watch) == [("resolved", "{}")]
        assert scene.look(watch, 5 * MINUTE - 1) == []
        assert scene.look(watch, 1) == [("firing", "{}")]


def test_a_key_that_does_not_come_any_more_is_noticed(scene: Scene) -> None:
    scene.topic("clicks")
    rule = alert_rule("silent", stream="clicks", absent="5 minutes", key=["pageid"])
    with scene.watch(rule) as watch:
        scene.put("clicks", {"pageid": "P1", "count": 1}, {"pageid": "P2", "count": 1})
        assert scene.look(watch, MINUTE) == []
        scene.put("clicks", {"pageid": "P1", "count": 1})
        assert scene.look(watch, 4 * MINUTE) == [("firing", '{"pageid":"P2"}')]
        scene.put("clicks", {"pageid": "P2", "count": 1})
        assert scene.look(watch, SECOND) == [("resolved", '{"pageid":"P2"}')]


def test_how_fast_a_number_changes_is_a_reason_too(scene: Scene) -> None:
    scene.topic("errors")
    rule = failing(when="count_change > 10 OR count_rate < -1", over="1 minute")
    with scene.watch(rule) as watch:
        scene.put("errors", {"pageid": "P1", "count": 100}, {"pageid": "P2", "count": 100})
        assert scene.look(watch) == []
        scene.clock.advance(30 * SECOND)
        scene.put("errors", {"pageid": "P1", "count": 111}, {"pageid": "P2", "count": 39})
        assert scene.look(watch) == [("firing", P1), ("firing", P2)]
        assert scene.look(watch, 20 * SECOND) == []
        assert scene.look(watch, 2 * MINUTE) == [("resolved", P1), ("resolved", P2)]


def test_a_rule_that_cannot_work_keeps_no_other_from_it_and_works_when_it_can(
    scene: Scene,
) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    other = alert_rule("other", table="later", when="count > 10")
    wrong = alert_rule("wrong", table="errors", when="cuont > 10")
    with scene.watch(other, wrong, failing()) as watch:
        assert scene.look(watch) == [("firing", P1)]
        problems = watch._observers.problems
        assert "TOPIC_MISSING" in problems["other"]
        assert "ALERT_CONDITION" in problems["wrong"]
        scene.topic("later")
        scene.put("later", {"pageid": "P2", "count": 12})
        assert scene.look(watch, 5 * SECOND) == [("firing", P2)]
        assert "other" not in watch._observers.problems


def test_records_of_bytes_are_read_by_the_format_that_is_said(scene: Scene) -> None:
    scene.topic("raw", None)
    said = failing(table="raw", format="json", columns="pageid string, count bigint")
    unsaid = alert_rule("unsaid", table="raw", when="count > 10")
    with open_log(scene.home) as log:
        values = [b'{"pageid": "P1", "count": 12}', b"nonsense", None]
        keys = [b"P1", b"P1", b"P2"]
        table = pa.table({"value": pa.array(values, pa.binary()), "_key": pa.array(keys)})
        log.append("raw", 0, table)
    with scene.watch(said, unsaid) as watch:
        assert scene.look(watch) == [("firing", P1)]
        assert "ALERT_RULE" in watch._observers.problems["unsaid"]


def test_keys_that_are_no_text_are_told_apart_all_the_same(scene: Scene) -> None:
    scene.topic("errors")
    with open_log(scene.home) as log:
        keys = pa.array([b"\xff\x00", b"\xfe", None], pa.binary())
        table = pa.table({"pageid": ["a", "b", "c"], "count": [12, 12, 12]}, ERRORS)
        log.append("errors", 0, table.append_column("_key", keys))
    with scene.watch(failing()) as watch:
        assert len(scene.look(watch)) == 3


def test_what_could_not_be_written_down_is_seen_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.topic("clicks")
    rule = alert_rule("big", stream="clicks", when="count > 10")
    with scene.watch(rule) as watch:
        scene.look(watch)
        scene.put("clicks", {"pageid": "P1", "count": 50})
        with monkeypatch.context() as broken:
            broken.setattr(watch._ledger._transaction, "commit", _full)
            with pytest.raises(TopicError):
                watch.look()
        assert scene.look(watch) == [("firing", P1)]


def _full(note: str = "") -> None:
    raise TopicError("DISK_FULL", "the disk is full")


def test_two_do_not_watch_at_once(scene: Scene) -> None:
    with scene.watch(failing()), pytest.raises(RunError, match="WATCH_TAKEN"), scene.watch():
        pass


def test_a_topic_that_holds_something_else_is_not_written(scene: Scene) -> None:
    scene.topic("errors")
    with pytest.raises(TopicError, match="ALERT_TOPIC"), scene.watch(failing(to="topic:errors")):
        pass
    with scene.watch(failing()):
        pass


def test_a_watcher_works_in_its_own_thread_and_waits_for_its_turn(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    looked: list[Watch] = []
    monkeypatch.setattr("penstock.watch.watcher._PAUSE", 0.01)
    rule = failing(group_every="0s")
    watcher = Watcher(
        scene.home, [rule], settings=scene.settings(), clock=scene.clock, send=scene.box
    )
    with scene.watch(rule) as other:
        looked.append(other)
        watcher.start()
        deadline = time.monotonic() + 10
        while "WATCH_TAKEN" not in watcher.problem and time.monotonic() < deadline:
            time.sleep(0.005)
        assert "WATCH_TAKEN" in watcher.problem
    while not scene.box.sent and time.monotonic() < deadline:
        time.sleep(0.005)
    watcher.stop()
    assert scene.box.told() == [[("firing", P1)]]
    assert watcher.problem == ""


def test_without_rules_nothing_is_begun(scene: Scene) -> None:
    watcher = Watcher(scene.home, settings=scene.settings())
    watcher.start()
    watcher.stop()
    assert not (scene.home / "watch").exists()


def test_a_topic_that_was_made_anew_is_read_from_its_beginning(scene: Scene) -> None:
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 1}, {"pageid": "P2", "count": 1})
    with scene.watch(failing()) as watch:
        assert scene.look(watch) == []
        with open_log(scene.home) as log:
            log.delete_topic("errors")
        assert scene.look(watch) == []
        scene.topic("errors")
        scene.put("errors", {"pageid": "P1", "count": 12})
        assert scene.look(watch, 5 * SECOND) == [("firing", P1)]


def test_values_that_json_does_not_have_are_told_as_text(scene: Scene) -> None:
    schema = pa.schema([("id", pa.binary()), ("share", pa.float64()), ("day", pa.date32())])
    scene.topic("shares", schema)
    row = {"id": b"a", "share": float("inf"), "day": dt.date(2026, 1, 31)}
    scene.put("shares", row, schema=schema)
    rule = alert_rule("r", table="shares", when="share > 1", message="{id} {share} {day}")
    with scene.watch(rule) as watch:
        (alert,) = watch.look()
    assert json.loads(alert.value)["share"] == "inf"
    assert alert.message == "a inf 2026-01-31"


def test_runs_of_jobs_are_told_where_lineage_is_asked_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "penstock.watch.lineage_emitter.lineage_of_run", lambda _, run: JobLineage(run.name, (), ())
    )
    settings = replace(scene.settings(), lineage={"file": str(scene.home / "events.jsonl")})
    with Watch(scene.home, (), settings, clock=scene.clock, send=scene.box) as watch:
        watch.deliver()
        with JobRecord(job_store(scene.home), replace(JOB, checkpoint="")):
            watch.deliver()
            scene.clock.advance(5 * SECOND)
            watch.deliver()
        watch.deliver()
        watch.deliver(last=True)
    lines = (scene.home / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["eventType"] for line in lines] == ["START", "COMPLETE"]
