"""The crash kit for jobs: it finds what a crash changes, and lets sound jobs pass."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import penstock as ps
from penstock.errors import UsageError
from penstock.model.job_settings import JobSettings
from penstock.spark.failpoints import STAGING, commit_steps
from penstock.spark.session import spark_session, stop_session
from penstock.testing.job_crash import CrashOptions, crash_job

VIEWS = {"user": str, "n": int, "at": "timestamp"}
AT_LEAST_ONCE = JobSettings(guarantee="at-least-once")
STEPS = ("level 0 done", "after append", "commit log not yet written")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    yield spark_session(master="local[2]")
    stop_session()


def views() -> ps.App:
    app = ps.App("views")
    stream = app.stream("views", schema=VIEWS, event_time="at", lateness="5s")
    stream.group_by("user").window(ps.tumbling("10s")).agg(views=ps.count()).to("counts")
    return app


def dice() -> ps.App:
    """A job that no crash test can pass: it gives other rows each time."""

    def roll(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": row["n"], "eyes": random.random()}

    app = ps.App("dice")
    stream = app.stream("views", schema=VIEWS, event_time="at")
    stream.map(roll, schema={"n": int, "eyes": float}).to("rolled")
    return app


def rows(count: int) -> list[dict[str, Any]]:
    return [{"user": f"u{n % 3}", "n": n, "at": 1000 * n} for n in range(count)]


@pytest.mark.spark
@pytest.mark.timeout(200)
def test_a_job_that_fails_at_commit_steps_and_is_started_again_passes(
    spark: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    options = CrashOptions(session=spark, folder=tmp_path / "sound")
    crashes = crash_job(views(), {"views": rows(40)}, at=STEPS, options=options)
    assert (crashes.reached, crashes.unreached) == (STEPS, ())
    assert crashes.batches >= 4
    assert crashes.written["counts"] == 12

    # What may come twice may come twice, and nothing else may change.
    loose = replace(options, folder=tmp_path / "loose", how=AT_LEAST_ONCE, batches=2)
    at = ("commit log not yet written",)
    assert crash_job(views(), {"views": rows(40)}, at=at, options=loose).reached == at
    rolling = replace(options, folder=tmp_path / "rolling", batches=2)
    with pytest.raises(AssertionError, match=r'topic "rolled" has other records after failing at'):
        crash_job(dice(), {"views": rows(4)}, at=at, options=rolling)


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_job_that_fails_ten_times_at_every_commit_step_passes(spark: Any) -> None:  # noqa: ANN401
    options = CrashOptions(session=spark, batches=10)
    crashes = crash_job(views(), {"views": rows(200)}, times=10, options=options)
    assert set(crashes.reached) == set(commit_steps(1)) - {STAGING}
    assert set(crashes.unreached) == {STAGING}
    assert len(crashes.reached) == 10 * (len(commit_steps(1)) - 1)


@pytest.mark.spark
@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_job_that_is_killed_passes(spark: Any) -> None:  # noqa: ANN401
    kills = int(os.environ.get("SOAK_CYCLES", "10"))
    options = CrashOptions(session=spark, batches=5 * kills)
    crashes = crash_job(views(), {"views": rows(50 * kills)}, at=(), kills=kills, options=options)
    assert crashes.kills == kills


def test_what_cannot_be_tried_is_refused() -> None:
    with pytest.raises(UsageError, match="CRASH_STEP"):
        crash_job(views(), {"views": []}, at=["level 7"])
    with pytest.raises(UsageError, match="CRASH_TOPIC"):
        crash_job(views(), {"vews": []}, at=())
    raw = ps.App("raw")
    raw.stream("views", schema=VIEWS, format="json").to("out")
    with pytest.raises(UsageError, match="CRASH_BYTES"):
        crash_job(raw, {"views": rows(1)}, at=())
    outside = ps.App("outside")
    outside.files("views.csv", schema=VIEWS).to("out")
    with pytest.raises(UsageError, match="CRASH_OUTSIDE"):
        crash_job(outside, {}, at=())
