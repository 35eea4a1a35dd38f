from __future__ import annotations

import re
import urllib.error
import urllib.request
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.clock import ManualClock
from penstock.errors import JobError
from penstock.jobs.host_file import HostedJob
from penstock.jobs.job import Job
from penstock.jobs.record import JobRecord
from penstock.jobs.store import job_store
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.open import open_log
from penstock.log.producer import ProducerStats
from penstock.log.record import TopicPartition
from penstock.model.progress import PartitionPosition, Progress
from penstock.watch.exposition import CONTENT_TYPE, exposition, number_text
from penstock.watch.job_metrics import job_families
from penstock.watch.lasting_counters import LastingCounters
from penstock.watch.log_metrics import producer_families
from penstock.watch.metrics import collect
from penstock.watch.metrics_server import MetricsServer
from penstock.watch.rule_document import alert_rule
from penstock.watch.sample import Family, Sample
from penstock.watch.seen_job import SeenJob, seen_jobs
from tests.jobs.records import JOB, PROGRESS
from tests.watch.scenes import MINUTE, START, Scene

TOLD = replace(PROGRESS, positions=(PartitionPosition("views", 0, 90, 95),))
LINE = re.compile(r'[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\.)*"(,[a-z_]+="(?:[^"\\\n]|\\.)*")*\})? \S+')


def samples(families: list[Family], name: str) -> dict[tuple[str, ...], float]:
    """Give the values of a family by their labels."""
    found = [family for family in families if family.name == name]
    return {tuple(s.labels.values()): s.value for family in found for s in family.samples}


def a_job(home: Path, progress: Progress | None = TOLD, fails: str = "") -> Job:
    """Leave the record of a run that is over."""
    record = JobRecord(job_store(home), replace(JOB, checkpoint=""), clock=ManualClock(1000))
    with suppress(JobError), record:
        record.running()
        if progress is not None:
            record.progress(progress)
        if fails:
            raise JobError("X", fails)
    return record.job


def test_a_job_is_measured_by_what_its_runs_have_told(tmp_path: Path) -> None:
    a_job(tmp_path)
    a_job(tmp_path, None, fails="no more")
    ends = {TopicPartition("views", 0): 100}
    found = list(job_families(seen_jobs(tmp_path), ends, 700_000))
    assert samples(found, "penstock_job_state")["shop", "failed"] == 1
    assert sum(samples(found, "penstock_job_state").values()) == 1
    assert samples(found, "penstock_job_restarts_total") == {("shop",): 1}
    assert samples(found, "penstock_batches_total") == {("shop",): 8}
    assert samples(found, "penstock_batch_seconds") == {("shop",): 0.5}
    assert samples(found, "penstock_rows_total")["shop", "agg-1", "late"] == 2
    assert len(samples(found, "penstock_rows_total")) == 12
    assert samples(found, "penstock_lag_records") == {("shop", "views", "0"): 10}
    assert samples(found, "penstock_watermark_seconds") == {("shop",): 120}
    assert samples(found, "penstock_watermark_delay_seconds") == {("shop",): 580}
    assert samples(found, "penstock_watermark_still_seconds") == {("shop",): 520}
    assert samples(found, "penstock_state_bytes") == {("shop", "agg-1"): 4096}
    assert samples(found, "penstock_checkpoint_age_seconds") == {("shop",): 100}
    assert samples(found, "penstock_event_skew_seconds")["shop", "greatest"] == 0.9


def test_what_the_host_makes_of_a_job_is_its_state() -> None:
    waits = HostedJob("shop", "1", "waiting", 0, 1)
    seen = SeenJob("shop", None, replace(JOB, state="failed"), None, 1)
    assert seen.state == "failed"
    assert replace(seen, hosted=waits).state == "restarting"
    assert replace(seen, hosted=replace(waits, state="failed")).state == "failed"
    assert replace(seen, hosted=replace(waits, state="running")).state == "failed"


def test_the_log_is_measured_by_its_partitions_and_groups(tmp_path: Path) -> None:
    with open_log(tmp_path) as log:
        log.create_topic("a", partitions=2)
        log.append("a", 1, pa.table({"value": pa.array([b"x", b"y"], pa.binary())}))
        log.commit("readers", {TopicPartition("a", 1): 1})
        found = collect(tmp_path, log)
    assert samples(found, "penstock_topic_records") == {("a", "0"): 0, ("a", "1"): 2}
    assert samples(found, "penstock_topic_end_offset")["a", "1"] == 2
    assert samples(found, "penstock_topic_bytes")["a", "1"] > 0
    assert samples(found, "penstock_topic_segments") == {("a", "0"): 1, ("a", "1"): 1}
    assert samples(found, "penstock_group_lag_records") == {("readers", "a", "1"): 1}


def test_what_a_producer_was_held_back_by_is_measured() -> None:
    found = list(producer_families({"web": ProducerStats(dropped=3, blocked_seconds=0.5)}))
    assert samples(found, "penstock_producer_dropped_total") == {("web",): 3}
    assert samples(found, "penstock_producer_blocked_seconds_total") == {("web",): 0.5}


def test_alerts_are_measured_by_their_rule(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    with scene.watch(alert_rule("failing", table="errors", when="count > 10")) as watch:
        watch.look()
    with open_log(tmp_path) as log:
        found = collect(tmp_path, log)
    assert samples(found, "penstock_alerts")["failing", "firing"] == 1


def a_counter(value: float) -> list[Family]:
    return [
        Family("a_total", "counter", "A.", (Sample({"job": "x"}, value),)),
        Family("b", "gauge", "B.", (Sample({}, value),)),
    ]


def test_a_counter_never_goes_back_when_a_job_begins_anew() -> None:
    bases = LastingCounters(MemoryStorage())
    seen = [bases.raised(a_counter(value)) for value in (5, 8, 2, 2, 9, 0)]
    assert [family[0].samples[0].value for family in seen] == [5, 8, 10, 10, 17, 17]
    assert [family[1].samples[0].value for family in seen] == [5, 8, 2, 2, 9, 0]


def test_who_may_not_write_sees_what_is_counted_now(monkeypatch: pytest.MonkeyPatch) -> None:
    storage = MemoryStorage()
    storage.replace("counters.json", b"nonsense")
    assert LastingCounters(storage).raised(a_counter(5))[0].samples[0].value == 5

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(MemoryStorage, "replace", refuse)
    assert LastingCounters(storage).raised(a_counter(3))[0].samples[0].value == 3


def test_the_text_is_what_prometheus_reads() -> None:
    awkward = Sample({"job": 'a"b\\c\nd', "what": "late"}, 1.5)
    text = exposition([Family("x_total", "counter", "One\\two\nthree.", (awkward,)),
                       Family("empty", "gauge", "None.")])  # fmt: skip
    assert text == (
        "# HELP x_total One\\\\two\\nthree.\n"
        "# TYPE x_total counter\n"
        'x_total{job="a\\"b\\\\c\\nd",what="late"} 1.5\n'
    )
    numbers = [0.0, 3.0, -2.5, 1e300, float("inf"), float("-inf"), float("nan")]
    assert [number_text(n) for n in numbers] == [
        "0", "3", "-2.5", "1e+300", "+Inf", "-Inf", "NaN",
    ]  # fmt: skip


def test_every_line_of_a_home_is_one_that_prometheus_reads(tmp_path: Path) -> None:
    a_job(tmp_path)
    with open_log(tmp_path) as log:
        log.create_topic("a")
        families = collect(tmp_path, log, producers={"web": ProducerStats()})
    text = exposition(families)
    lines = text.splitlines()
    assert [line for line in lines if not (line.startswith("# ") or LINE.fullmatch(line))] == []
    names = [family.name for family in families]
    assert len(set(names)) == len(names)
    assert all(name.startswith("penstock_") for name in names)
    counters = [family for family in families if family.kind == "counter"]
    assert all(family.name.endswith("_total") for family in counters)


def test_measurements_are_offered_over_http() -> None:
    with closing(MetricsServer(lambda: "a 1\n")) as server:
        with urllib.request.urlopen(server.url) as answer:
            assert answer.read() == b"a 1\n"
            assert answer.headers["Content-Type"] == CONTENT_TYPE
        with pytest.raises(urllib.error.HTTPError, match="404") as caught:
            urllib.request.urlopen(server.url.replace("/metrics", "/"))
        caught.value.close()


def failing() -> str:
    raise JobError("JOB_UNREADABLE", "a record is damaged")


def test_what_cannot_be_measured_is_told_by_its_code() -> None:
    with closing(MetricsServer(failing)) as server:
        with pytest.raises(urllib.error.HTTPError, match="503: JOB_UNREADABLE") as caught:
            urllib.request.urlopen(server.url)
        caught.value.close()


def test_a_rule_may_be_on_a_metric_or_a_job(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.topic("views")
    a_job(tmp_path, replace(TOLD, clock=START, watermark=START), fails="no more")
    rules = [
        alert_rule("lag", metric="penstock_lag_records", when="job = 'shop' AND value > 3"),
        alert_rule("failed", job="*", when="state = 'failed'"),
        alert_rule("stuck", job="shop", when="watermark_delay > 60"),
        alert_rule("dead", job="shop", when="dead_change > 0", over="10 minutes"),
        alert_rule("restarting", job="shop", when="restarts_change >= 1", over="10 minutes"),
        alert_rule("gone", metric="penstock_dead_letters", absent="1 minute"),
        alert_rule("nobody", job="other", when="lag > 1"),
    ]
    with scene.watch(*rules) as watch:
        assert scene.look(watch) == [("firing", '{"job":"shop"}'), ("pending", "{}")]
        scene.put("views", *({"pageid": "P", "count": n} for n in range(94)))
        a_job(tmp_path, replace(TOLD, accounts=(replace(TOLD.accounts[0], dead=7),)))
        firing = scene.look(watch, 2 * MINUTE)
        assert firing == [
            ("firing", '{"job":"shop","topic":"views","partition":"0"}'),
            ("resolved", '{"job":"shop"}'),
            ("firing", '{"job":"shop"}'),
            ("firing", '{"job":"shop"}'),
            ("firing", '{"job":"shop"}'),
            ("firing", "{}"),
        ]
