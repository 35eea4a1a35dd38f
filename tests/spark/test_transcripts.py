from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from penstock.errors import RunError, UsageError
from penstock.testing import spark_stage
from penstock.testing.spark_stage import spark_stages
from penstock.testing.transcript import load_transcript, run_transcript

TRANSCRIPTS = sorted((Path(__file__).parents[1] / "transcripts").glob("*.transcript.yaml"))


@pytest.mark.spark
@pytest.mark.parametrize("file", TRANSCRIPTS, ids=lambda file: file.name.partition(".")[0])
def test_a_transcript_holds_on_spark(file: Path, tmp_path: Path, spark: SparkSession) -> None:
    with spark_stages(tmp_path, spark) as open_stage:
        run_transcript(load_transcript(file), open_stage)


@pytest.mark.spark
def test_a_watermark_that_follows_the_rows_cannot_be_told(
    tmp_path: Path, spark: SparkSession
) -> None:
    transcript = load_transcript(TRANSCRIPTS[0])
    with spark_stages(tmp_path, spark) as open_stage:
        stage = open_stage(transcript.program, {})
        with pytest.raises(UsageError, match="STAGE_WATERMARK"):
            stage.advance_watermark(5)


@pytest.mark.spark
def test_spark_is_not_waited_for_without_end(
    tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_stage, "_PATIENCE_SECONDS", 0.0)
    transcript = load_transcript(TRANSCRIPTS[0])
    with spark_stages(tmp_path, spark) as open_stage:
        stage = open_stage(transcript.program, {})
        with pytest.raises(RunError, match="STAGE_PATIENCE"):
            stage.push("events", [{"id": 1, "at": 5}], partition=0, at=None)
