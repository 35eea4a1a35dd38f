from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import UsageError
from penstock.spark.admission import BatchLimits
from penstock.spark.options import sink_options, source_options
from penstock.spark.position import BEGINNING, LATEST

NEEDED = {"home": "h", "topic": "t"}


def test_a_source_reads_the_whole_history_unless_told_otherwise() -> None:
    options = source_options(NEEDED)
    assert (options.start, options.stop) == (BEGINNING, LATEST)
    assert not options.limits.any
    assert options.min_tasks >= 1


def test_names_may_have_any_case_as_spark_gives_them_in_lower_case() -> None:
    options = source_options(
        {
            **NEEDED,
            "maxrowsperbatch": "10_000",
            "MAXBYTESPERBATCH": "1e6",
            "maxSecondsPerBatch": "1.5",
            "columns": "a, b,,",
        }
    )
    assert options.limits == BatchLimits(rows=10_000, bytes=1_000_000, span=timedelta(seconds=1.5))
    assert options.columns == ("a", "b")


@pytest.mark.parametrize(
    "given",
    [
        {"topic": "t"},
        {"home": "h"},
        {**NEEDED, "maxRowsPerBatch": "0"},
        {**NEEDED, "maxRowsPerBatch": "many"},
        {**NEEDED, "minTasks": "-1"},
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="FORMAT_OPTION"):
        source_options(given)


def test_a_misspelt_option_is_corrected() -> None:
    with pytest.raises(UsageError) as caught:
        source_options({**NEEDED, "maxRowPerBatch": "5"})
    assert caught.value.hint == 'Did you mean "maxRowsPerBatch"?'


def test_a_sink_takes_sparks_own_options_and_may_have_no_topic() -> None:
    assert sink_options({"home": "h", "checkpointlocation": "c"}).topic == ""
    with pytest.raises(UsageError, match="FORMAT_OPTION"):
        sink_options({"home": "h", "start": "latest"})
