"""Aggregates: functions of groups of rows."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

_NUMBERS = "(INT) INT; (BIGINT) BIGINT; (DOUBLE) DOUBLE; (DECIMAL) =first"
_ORDERED = (
    f"{_NUMBERS}; (STRING) STRING; (BYTES) BYTES; (DATE) DATE; (TIME) TIME; (TIMESTAMP) TIMESTAMP"
)
_OFFSET = "(T) T; (T, BOOLEAN) T; (T, INT) ARRAY<T>; (T, INT, BOOLEAN) ARRAY<T>"
_DEVIATION = "(DOUBLE) DOUBLE"

SAMPLE = (
    ("Rome", 1, 1.0, 2.0, (1, 2)),
    ("Oslo", 5, 2.0, 4.0, (3,)),
    ("Rome", 4, 3.0, 6.0, (4, 5)),
    (None, 1, 4.0, 8.0, (0,)),
)
"""The rows that examples of aggregates are of."""
SAMPLE_COLUMNS = "city STRING, total INT, x DOUBLE, y DOUBLE, prices ARRAY<INT>"

AGGREGATES: Mapping[str, Entry] = {
    "ATTR": Entry("(T) T", "The value that all rows have, else null.", "ATTR(city)", "null"),
    "AVG": Entry("(DOUBLE) DOUBLE", "The average.", "AVG(total)", "2.75"),
    "COLLECT_LIST": Entry(
        "(T) ARRAY<T>",
        "All values, nulls too, in their order.",
        "COLLECT_LIST(city)",
        "[Rome, Oslo, Rome, null]",
    ),
    "COLLECT_SET": Entry(
        "(T) ARRAY<T>",
        "Each value once, in the order of the first.",
        "COLLECT_SET(city)",
        "[Rome, Oslo, null]",
    ),
    "CORRELATION": Entry(
        "(DOUBLE, DOUBLE) DOUBLE",
        "Pearson's correlation of two columns.",
        "CORRELATION(x, y)",
        "1.0",
    ),
    "COUNT": Entry("() BIGINT; (T) BIGINT", "How many rows, or values.", "COUNT(*)", "4"),
    "COUNT_DISTINCT": Entry(
        "(T) BIGINT", "How many different values.", "COUNT_DISTINCT(city)", "2"
    ),
    "EARLIEST_BY_OFFSET": Entry(
        _OFFSET,
        "The first value, or the first n; FALSE counts nulls too.",
        "EARLIEST_BY_OFFSET(city, 2)",
        "[Rome, Oslo]",
    ),
    "HISTOGRAM": Entry(
        "(STRING) MAP<STRING, BIGINT>",
        "How often each value is there.",
        "HISTOGRAM(city)",
        "{Rome=2, Oslo=1}",
    ),
    "LATEST_BY_OFFSET": Entry(
        _OFFSET,
        "The last value, or the last n; FALSE counts nulls too.",
        "LATEST_BY_OFFSET(city)",
        "Rome",
    ),
    "MAX": Entry(_ORDERED, "The greatest value.", "MAX(total)", "5"),
    "MIN": Entry(_ORDERED, "The least value.", "MIN(total)", "1"),
    "STDDEV_SAMP": Entry(
        _DEVIATION,
        "The variance of a sample: ksqlDB takes no root here.",
        "STDDEV_SAMP(total)",
        "4.25",
    ),
    "STDDEV_SAMPLE": Entry(
        _DEVIATION,
        "The standard deviation of a sample.",
        "STDDEV_SAMPLE(total)",
        "2.0615528128088303",
    ),
    "SUM": Entry(_NUMBERS, "The sum; of DECIMALs it must fit their type.", "SUM(total)", "11"),
    "SUM_LIST": Entry(
        "(ARRAY<INT>) INT; (ARRAY<BIGINT>) BIGINT; (ARRAY<DOUBLE>) DOUBLE; (ARRAY<DECIMAL>) =item",
        "The sum of all items.",
        "SUM_LIST(prices)",
        "15",
    ),
    "TOPK": Entry(
        "(T, INT) ARRAY<T>",
        "The k greatest values; with other columns between, structs of sort_col, col0, col1 ...",
        "TOPK(total, city, 3)",
        "[Struct{sort_col=5,col0=Oslo}, Struct{sort_col=4,col0=Rome}, "
        "Struct{sort_col=1,col0=Rome}]",
    ),
    "TOPKDISTINCT": Entry(
        "(T, INT) ARRAY<T>",
        "The k greatest values, each once.",
        "TOPKDISTINCT(total, 3)",
        "[5, 4, 1]",
    ),
}
