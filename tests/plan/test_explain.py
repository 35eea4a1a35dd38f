from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.errors import PlanError
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.progress import PartitionWatermark, Progress
from penstock.plan.explain import STAGES, Running, Stage, explain, stages_text
from tests.plan.programs import a_stream, program, the_feed, the_shop

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "plans"


@pytest.mark.parametrize("stage", ["model", "logical", "physical", "watermark", "state"])
@pytest.mark.parametrize(
    ("name", "program_", "settings"),
    [
        ("shop", the_shop(), Settings()),
        ("feed", the_feed(), Settings()),
        ("feed-apart", the_feed(), Settings(buckets=4, parallelism=1, fuse=False)),
    ],
)
def test_every_stage_is_as_it_was(
    name: str, program_: Plan, settings: Settings, stage: Stage
) -> None:
    file = GOLDEN / f"{name}.{stage}.txt"
    found = explain(program_, settings, stage)
    if os.environ.get("GOLDEN") == "write":
        file.write_text(found)
    assert found == file.read_text()


def test_all_stages_are_one_after_the_other() -> None:
    assert explain(the_shop()) == "\n".join(
        explain(the_shop(), stage=stage) for stage in STAGES if stage not in {"spark", "all"}
    )


def test_the_plan_of_spark_is_the_last_stage_of_a_program_that_has_run() -> None:
    running = Running(spark="== Physical Plan ==\n*(1) Scan")
    assert explain(the_shop(), running=running).endswith(
        "\n\nSPARK\n  == Physical Plan ==\n  *(1) Scan\n"
    )
    assert explain(the_shop(), stage="spark") == "SPARK  no plan before the first batch of a run\n"


def test_the_four_questions_are_answered() -> None:
    text = explain(the_shop(), stage="model")
    for question in ("what ", "where ", "when ", "how "):
        assert f"│ {question}" in text


def test_the_logical_stage_tells_which_rule_did_what() -> None:
    lines = stages_text(the_shop(), stage="logical")["logical"].splitlines()
    at = lines.index("  merge_filters")
    assert lines[at + 1] == "    - filter n > 1 <- filter n > 0"
    assert lines[at + 2] == "    + filter (n > 0) and (n > 1) <- stream views"


def test_fusion_and_parallelism_show_in_the_physical_stage_and_nowhere_else() -> None:
    usual, other = (
        stages_text(the_shop(), settings)
        for settings in (Settings(), Settings(parallelism=5, fuse=False))
    )
    assert {name for name in usual if usual[name] != other[name]} == {"physical"}
    assert "worker 1 to 5" in other["physical"]
    assert "not fused" in other["physical"]


def test_the_processes_of_a_running_job_are_shown_with_their_ids() -> None:
    running = Running(pids={"driver": 11, "jvm": 12, "worker 2": 13, "worker 9": 14})
    text = explain(the_shop(), stage="physical", running=running)
    assert "driver (pid 11):" in text
    assert "jvm (pid 12):" in text
    assert "worker 2 (pid 13): Python: one task at a time" in text
    assert "worker 9 (pid 14): Python, kept by Spark" in text
    assert "pid" not in explain(the_shop(), stage="physical")


def test_the_partition_that_holds_a_window_open_is_named() -> None:
    minute = 60_000
    progress = Progress(
        batch=7,
        clock=10 * minute,
        watermark=2 * minute,
        partitions=(
            PartitionWatermark("scan-views", 0, 2 * minute, since=3 * minute, holds=True),
            PartitionWatermark("scan-views", 1, 9 * minute, since=10 * minute),
            PartitionWatermark("scan-views", 2, minute, since=minute, idle=True),
            PartitionWatermark("scan-views", 3, None, since=0),
        ),
    )
    text = explain(the_shop(), stage="watermark", running=Running(progress=progress))
    assert text.splitlines()[-5:] == [
        "  at 1970-01-01T00:10:00.000Z, after batch 7: watermark 1970-01-01T00:02:00.000Z,"
        " windows that end later are open",
        "    scan-views partition 0: 1970-01-01T00:02:00.000Z since 1970-01-01T00:03:00.000Z (7m),"
        " holds the windows open",
        "    scan-views partition 1: 1970-01-01T00:09:00.000Z since 1970-01-01T00:10:00.000Z (0s)",
        "    scan-views partition 2: 1970-01-01T00:01:00.000Z, idle since"
        " 1970-01-01T00:01:00.000Z (9m), not waited for",
        "    scan-views partition 3: no row yet, not waited for",
    ]


def test_the_time_goes_on_between_batches() -> None:
    held = PartitionWatermark("scan-views", 0, 0, since=0, holds=True)
    progress = Progress(batch=1, clock=0, watermark=0, partitions=(held,))
    running = Running(progress=progress, clock=90_000)
    text = explain(the_shop(), stage="watermark", running=running)
    assert text.endswith("since 1970-01-01T00:00:00.000Z (1m30s), holds the windows open\n")


def test_before_the_first_row_there_is_no_watermark() -> None:
    running = Running(progress=Progress(batch=0, clock=0, watermark=None))
    text = explain(the_shop(), stage="watermark", running=running)
    assert text.endswith("after batch 0: no watermark yet, no row was seen\n")


def test_what_cannot_run_is_not_explained() -> None:
    with pytest.raises(PlanError, match="PLAN_LOOP"):
        explain(Plan("loop", (Sink(a_stream(), "views"),)))


def test_a_step_that_two_read_is_drawn_once() -> None:
    stream = a_stream()
    lines = explain(program(stream, stream), stage="model").splitlines()
    assert lines == [
        "MODEL  program shop",
        "  to out, beside it out.late, out.dead",
        "  └─ stream views [1]",
        "       event time at",
        "       watermark 10s behind the latest row, idle after 1m",
        "       gives user string, region string, page string, n int64, at timestamp",
        "  to out-2, beside it out-2.late, out-2.dead",
        "  └─ stream views: see [1]",
    ]
