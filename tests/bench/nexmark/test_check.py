from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from bench.nexmark.answers import answer
from bench.nexmark.check import differences
from bench.nexmark.events import events_folder
from bench.nexmark.questions import QUESTIONS
from tests.bench.nexmark.conftest import Write

EVENTS = 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events_folder(EVENTS, below=tmp_path_factory.mktemp("nexmark"))


def one_off(table: pa.Table) -> pa.Table:
    """Change one number of one row."""
    place = next(n for n, field in enumerate(table.schema) if pa.types.is_int64(field.type))
    column = table.column(place).combine_chunks()
    changed = pa.concat_arrays([pa.array([-1], column.type), column[1:]])
    return table.set_column(place, table.schema.field(place), changed)


@pytest.mark.parametrize("query", ["q4", "q5", "q9", "q19"])
def test_the_answer_is_right_and_a_row_that_is_changed_or_missing_is_found(
    query: str, folder: Path
) -> None:
    right = answer(query, folder)
    assert differences(query, right, folder) == []
    told = differences(query, one_off(right), folder)
    assert any("too many or wrong" in text for text in told)
    assert any("are missing" in text for text in told) or "closes_at" in QUESTIONS[query].sql
    twice = pa.concat_tables([right, right.slice(0, 1)])
    assert "1 rows are too many or wrong" in differences(query, twice, folder)[0]


def test_windows_that_may_still_be_open_may_be_missing_others_not(events: Write) -> None:
    bids = [{"auction": 1, "date_time": second} for second in (1, 11, 25)]
    folder = events(bid=bids)
    right = answer("q7", folder).sort_by("date_time")
    assert differences("q7", right.slice(0, 2), folder) == []
    assert "1 rows are missing" in differences("q7", right.slice(1), folder)[0]
    invented = pa.concat_tables([right.slice(0, 2), one_off(right.slice(2))])
    assert "too many or wrong" in differences("q7", invented, folder)[0]


def test_any_of_two_rows_that_tie_is_right_but_not_a_third(events: Write) -> None:
    bids = [{"price": price, "date_time": 1} for price in (3, 4)]
    folder = events(bid=bids)
    for price in (3, 4):
        chosen = pa.Table.from_pylist([r for r in rows_of(folder) if r["price"] == price])
        assert differences("q18", chosen, folder) == []
    neither = chosen.set_column(2, "price", pa.array([5]))
    assert "no rows of the events" in differences("q18", neither, folder)[0]


def test_times_decimals_and_averages_are_compared_as_values(events: Write) -> None:
    folder = events(bid=[{"price": 3, "date_time": 1}, {"price": 4, "date_time": 2}])
    right = answer("q1", folder)
    as_double = right.set_column(2, "price", right["price"].cast(pa.float64()))
    as_zoned = as_double.set_column(
        3, "dateTime", right["date_time"].cast(pa.timestamp("us", "UTC"))
    )
    assert differences("q1", as_zoned, folder) == []
    statistics = answer("q17", folder)
    for mean, wrong in ((3.5, 0), (4.5, 2)):
        column = pa.array([mean] * statistics.num_rows)
        changed = statistics.set_column(8, "avg_price", column)
        assert len(differences("q17", changed, folder)) == wrong


def test_columns_that_are_not_there_are_named(events: Write) -> None:
    folder = events(bid=[{}])
    found = answer("q2", folder).drop_columns(["price"])
    assert differences("q2", found, folder) == ["column price is missing; there are: auction"]


def test_counts_by_the_clock_are_added_up_however_windows_fell(events: Write) -> None:
    folder = events(bid=[{"bidder": 1}] * 3 + [{"bidder": 2}])
    parts = pa.table({"bidder": [1, 2, 1], "bid_count": [2, 1, 1]})
    assert differences("q12", parts, folder) == []
    assert differences("q12", parts.filter(pc.field("bidder") == 1), folder) != []


def rows_of(folder: Path) -> list[dict[str, object]]:
    bids = pq.read_table(folder / "bid" / "part-00000.parquet")
    rows: list[dict[str, object]] = bids.to_pylist()
    return rows
