"""Where each function, aggregate and relation can run, and why.

An expression means what Spark's function gives without ANSI (an overflow wraps, a division by
zero or a text that is no number is null) with the session's time zone UTC. The columnar form
is proved equal by `tests/spark/test_expression.py`, except as `limits` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capability:
    """How something is computed on whole columns (polars), how by Spark itself, and the limits.

    An empty `columnar` or `spark` says that it cannot run there.
    """

    columnar: str
    spark: str
    limits: str = ""


_CONSTANT_PATTERN = (
    "the pattern is a constant, in the syntax Java and Rust share: no references back, no "
    "looking around; letters of all scripts are letters, and $ is the end of the text"
)
_SOLID_PATTERN = f"{_CONSTANT_PATTERN}; it must not match the empty text"
_LAST_DIGIT = "the last digit of a result may differ, as between two processors"
_DECIMAL = "decimals: a product has at most 38 digits"


def _plain(spark: str, limits: str = "") -> Capability:
    return Capability("polars", spark, limits)


FUNCTIONS: Mapping[str, Capability] = {
    "abs": _plain("abs"),
    "add": _plain("+"),
    "and": _plain("and"),
    "array_contains": _plain("array_contains"),
    "array_size": _plain("array_size"),
    "ceil": _plain("ceil"),
    "coalesce": _plain("coalesce"),
    "concat": _plain("concat"),
    "contains": _plain("contains"),
    "date_trunc": _plain("date_trunc", "the unit is a constant"),
    "day": _plain("day"),
    "divide": _plain("try_divide", "of floating-point numbers; by zero is null"),
    "element_at": _plain("try_element_at", "counts from 1; 0 is null"),
    "ends_with": _plain("endswith"),
    "eq": _plain("="),
    "exp": _plain("exp", _LAST_DIGIT),
    "floor": _plain("floor"),
    "from_millis": _plain("timestamp_millis"),
    "ge": _plain(">="),
    "greatest": _plain("greatest"),
    "gt": _plain(">"),
    "hour": _plain("hour"),
    "if": _plain("case when"),
    "is_nan": _plain("isnan"),
    "is_not_null": _plain("isnotnull"),
    "is_null": _plain("isnull"),
    "le": _plain("<="),
    "least": _plain("least"),
    "length": _plain("length"),
    "like": _plain("like", "the pattern is a constant"),
    "ln": _plain("ln", _LAST_DIGIT),
    "lower": _plain("lower"),
    "lpad": _plain("lpad", "the length and the filling are constants"),
    "lt": _plain("<"),
    "millis": _plain("unix_millis"),
    "minute": _plain("minute"),
    "mod": Capability("polars; numpy for floating-point numbers", "try_mod"),
    "month": _plain("month"),
    "multiply": _plain("*", _DECIMAL),
    "ne": _plain("<>"),
    "negate": _plain("negative"),
    "not": _plain("not"),
    "nullif": _plain("nullif"),
    "or": _plain("or"),
    "power": _plain("pow", _LAST_DIGIT),
    "regexp_extract": _plain("regexp_extract", _CONSTANT_PATTERN),
    "regexp_extract_all": _plain(
        "regexp_extract_all", f"{_CONSTANT_PATTERN}; groups of patterns without \\b, ^ and $"
    ),
    "regexp_like": _plain("rlike", _CONSTANT_PATTERN),
    "regexp_replace": _plain("regexp_replace", f"{_SOLID_PATTERN}; the new text is a constant"),
    "replace": _plain("replace", "both texts are constants"),
    "reverse": _plain("reverse"),
    "round": _plain("round", "the number of places is a constant, -15 to 15"),
    "rpad": _plain("rpad", "the length and the filling are constants"),
    "second": _plain("second"),
    "split": _plain("split", _SOLID_PATTERN),
    "sqrt": _plain("sqrt"),
    "starts_with": _plain("startswith"),
    "substring": _plain("substr"),
    "subtract": _plain("-"),
    "to_date": _plain("cast as date", "years up to 9999"),
    "trim": _plain("trim"),
    "upper": _plain("upper"),
    "year": _plain("year"),
}

CAST = Capability(
    "polars",
    "cast",
    "floating-point numbers are written with the fewest digits, as Java does from version 19; "
    "times read from text have offsets for zones and years up to 9999",
)

SQL = Capability("polars, with ksqlDB's meaning", "")
"""The functions of the SQL library (`Resolved`)."""
BY_ROW = Capability("your function, row by row in Python: a VECTORISED one would be faster", "")
BY_COLUMN = Capability("your function, on whole columns", "")
"""Functions of the user inside of expressions."""

_BUCKETS = "kernel.fold, in the bucket operator; rows of a batch are folded before the exchange"
_ALL_ROWS = "kernel.fold, in the bucket operator; holds the values, so that rows can be taken back"

AGGREGATES: Mapping[str, Capability] = {
    "count": Capability(_BUCKETS, "count"),
    "sum": Capability(_BUCKETS, "sum"),
    "avg": Capability(_BUCKETS, "avg"),
    "variance": Capability(_BUCKETS, "var_samp"),
    "stddev": Capability(_BUCKETS, "stddev_samp"),
    "histogram": Capability(_BUCKETS, ""),
    "min": Capability(_BUCKETS, "min", "holds the values where rows are taken back"),
    "max": Capability(_BUCKETS, "max", "holds the values where rows are taken back"),
    "first": Capability(_BUCKETS, "min_by", "holds the values where rows are taken back"),
    "last": Capability(_BUCKETS, "max_by", "holds the values where rows are taken back"),
    "collect_list": Capability(_ALL_ROWS, "collect_list", "Spark gives no order"),
    "collect_set": Capability(_ALL_ROWS, "collect_set", "Spark gives no order"),
    "count_distinct": Capability(_ALL_ROWS, "", "Spark has none over a stream"),
    "approx_count_distinct": Capability(_BUCKETS, "approx_count_distinct", "not the same sketch"),
    "top_k": Capability(_ALL_ROWS, ""),
    "top_k_distinct": Capability(_ALL_ROWS, ""),
    "quantile": Capability(_ALL_ROWS, "percentile"),
    "user": Capability("your object, group by group", "", "Spark cannot take a row back"),
}

RELATIONS: Mapping[str, Capability] = {
    "Project": Capability("polars, where the rows are", "select"),
    "Filter": Capability("polars, where the rows are", "where"),
    "Union": Capability("no work: both inputs have one target", "union"),
    "Rekey": Capability("no work: decides the partition of a topic", "repartition"),
    "Updates": Capability("polars, where the rows are", "", "Spark has no tables of a stream"),
    "Retire": Capability("polars, where the rows are", "", "Spark has no tables of a stream"),
    "ChangeRows": Capability("polars, where the rows are", "", "Spark has no tables of a stream"),
    "RowChanges": Capability("polars, where the rows are", "", "Spark has no tables of a stream"),
    "Enrich": Capability(
        "polars, where the rows are: the table is at hand in every worker", "broadcast join"
    ),
    "Restamp": Capability("polars, where the rows are", "withWatermark", "Spark allows one each"),
    "Expect": Capability("polars, where the rows are", "", "Spark has no side output"),
    "Apply": Capability("your function, on rows or tables", "mapInArrow", "no dead letters there"),
    "Aggregate": Capability(
        "bucket operator", "groupBy.agg", "Spark: on-time results only, of time windows"
    ),
    "Dedup": Capability("bucket operator", "dropDuplicates", "Spark: takes no row back"),
    "TopN": Capability("bucket operator", "", "Spark has none over a stream"),
    "Latest": Capability("bucket operator", "", "Spark has no tables of a stream"),
    "Versions": Capability("bucket operator", "", "Spark has no tables of a stream"),
    "Join": Capability("bucket operator", "join", "Spark: takes no row back, has no tables"),
    "Process": Capability(
        "your function, in the bucket operator", "transformWithState", "Spark: key by key"
    ),
    "Settle": Capability("bucket operator without state", "", "Spark has no tables of a stream"),
    "Match": Capability("bucket operator", "", "Spark has none"),
}
