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

AGGREGATES: Mapping[str, Entry] = {
    "ATTR": Entry("(T) T", "The value that all rows have, else null.", "ATTR(city)", ""),
    "AVG": Entry("(DOUBLE) DOUBLE", "The average.", "AVG(total)", ""),
    "COLLECT_LIST": Entry(
        "(T) ARRAY<T>", "All values, nulls too, in their order.", "COLLECT_LIST(city)", ""
    ),
    "COLLECT_SET": Entry(
        "(T) ARRAY<T>", "Each value once, in the order of the first.", "COLLECT_SET(city)", ""
    ),
    "CORRELATION": Entry(
        "(DOUBLE, DOUBLE) DOUBLE", "Pearson's correlation of two columns.", "CORRELATION(x, y)", ""
    ),
    "COUNT": Entry("() BIGINT; (T) BIGINT", "How many rows, or values.", "COUNT(*)", ""),
    "COUNT_DISTINCT": Entry("(T) BIGINT", "How many different values.", "COUNT_DISTINCT(city)", ""),
    "EARLIEST_BY_OFFSET": Entry(
        _OFFSET,
        "The first value, or the first n; FALSE counts nulls too.",
        "EARLIEST_BY_OFFSET(city, 2)",
        "",
    ),
    "HISTOGRAM": Entry(
        "(STRING) MAP<STRING, BIGINT>", "How often each value is there.", "HISTOGRAM(city)", ""
    ),
    "LATEST_BY_OFFSET": Entry(
        _OFFSET,
        "The last value, or the last n; FALSE counts nulls too.",
        "LATEST_BY_OFFSET(city)",
        "",
    ),
    "MAX": Entry(_ORDERED, "The greatest value.", "MAX(total)", ""),
    "MIN": Entry(_ORDERED, "The least value.", "MIN(total)", ""),
    "STDDEV_SAMP": Entry(
        _DEVIATION, "The variance of a sample: ksqlDB takes no root here.", "STDDEV_SAMP(total)", ""
    ),
    "STDDEV_SAMPLE": Entry(
        _DEVIATION, "The standard deviation of a sample.", "STDDEV_SAMPLE(total)", ""
    ),
    "SUM": Entry(_NUMBERS, "The sum.", "SUM(total)", ""),
    "SUM_LIST": Entry(
        "(ARRAY<INT>) INT; (ARRAY<BIGINT>) BIGINT; (ARRAY<DOUBLE>) DOUBLE; (ARRAY<DECIMAL>) =item",
        "The sum of all items.",
        "SUM_LIST(prices)",
        "",
    ),
    "TOPK": Entry(
        "(T, INT) ARRAY<T>",
        "The k greatest values; with other columns between, structs of sort_col, col0, col1 ...",
        "TOPK(total, city, 3)",
        "",
    ),
    "TOPKDISTINCT": Entry(
        "(T, INT) ARRAY<T>", "The k greatest values, each once.", "TOPKDISTINCT(total, 3)", ""
    ),
}
