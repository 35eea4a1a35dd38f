"""Moments as text and numbers: ISO 8601, a pattern of one's own, milliseconds or seconds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import SchemaError
from penstock.schema.codec.format import Format

MOMENT = pa.timestamp("ms", tz="UTC")
DAY_MILLIS = 86_400_000
CLOCK = "%H:%M:%S%.3f"
_NAMED = {"twitter": "%a %b %d %H:%M:%S %z %Y", "apache": "%d/%b/%Y:%H:%M:%S %z"}
_ISO = "%Y-%m-%dT%H:%M:%S%.3fZ"
_CLOCK_TEXT = r"^\d\d:\d\d:\d\d(\.\d{1,6})?$"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Times:
    """How a format writes timestamps.

    Text is ISO 8601 unless `pattern` says otherwise; numbers count seconds or milliseconds since
    1970. `written` says which of the two is written; both are read.
    """

    written: Literal["text", "number"] = "text"
    pattern: str = ""
    seconds: bool = False

    @property
    def unit(self) -> int:
        """How many milliseconds a number stands for."""
        return 1000 if self.seconds else 1


def times_of(format: Format) -> Times:  # noqa: A002
    """Read the option `timestamp`: `seconds`, `millis`, a known name, or a pattern."""
    told = format.option("timestamp")
    if told in ("seconds", "millis"):
        return Times("number", seconds=told == "seconds")
    if told and told not in _NAMED and "%" not in told:
        raise SchemaError(
            "FORMAT_OPTION",
            f'option "timestamp" of format "{format.name}" is "{told}"',
            hint=f"It is seconds, millis, {', '.join(_NAMED)}, or a pattern: %d.%m.%Y %H:%M.",
        )
    return Times(pattern=_NAMED.get(told, told))


def moments_of_texts(texts: pa.Array, times: Times) -> pa.Array:
    """Read timestamps; raises `ValueError` where one text is none."""
    if times.pattern:
        return _by_pattern(texts, times.pattern)
    try:
        found = texts.cast(pa.timestamp("us", tz="UTC"))
    except pa.ArrowInvalid:
        # Without a zone it is UTC; a mixture of both is left to those who read one by one.
        found = texts.cast(pa.timestamp("us"))
    micros = found.cast(pa.int64())
    return pa.array(
        np.floor_divide(micros.fill_null(0).to_numpy(), 1000), mask=_nulls(micros)
    ).cast(MOMENT)


def moments_of_numbers(numbers: pa.Array, times: Times) -> pa.Array:
    """Read timestamps that are counted since 1970."""
    return pc.multiply_checked(numbers, times.unit).cast(MOMENT)


def clock_of_texts(texts: pa.Array) -> pa.Array:
    """Read times of day, such as `17:58:20.250`; raises `ValueError` where one text is none."""
    # polars takes parts of one digit as well.
    if not pc.all(pc.match_substring_regex(texts, _CLOCK_TEXT)).as_py() and texts.null_count < len(
        texts
    ):
        raise ValueError("a time of day has two digits a part")
    try:
        found = pl.Series(texts).str.to_time("%H:%M:%S%.f", strict=True)
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error
    millis = (found.cast(pl.Int64) // 1_000_000).cast(pl.Int32)
    return millis.to_arrow().cast(pa.time32("ms"))


def clock_of_numbers(numbers: pa.Array) -> pa.Array:
    """Read times of day that count milliseconds since midnight."""
    within = pc.and_(pc.greater_equal(numbers, 0), pc.less(numbers, DAY_MILLIS))
    if not pc.all(within).as_py() and numbers.null_count < len(numbers):
        raise ValueError("a time of day is less than 24 hours")
    return numbers.cast(pa.int32()).cast(pa.time32("ms"))


def moment_of_text(text: str, times: Times) -> int:
    """Read one timestamp as milliseconds since 1970."""
    if times.pattern:
        found = _by_pattern(pa.array([text], pa.string()), times.pattern)
        return int(found.cast(pa.int64())[0].as_py())
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND


def clock_of_text(text: str) -> int:
    """Read one time of day as milliseconds since midnight."""
    found = time.fromisoformat(text)
    if found.tzinfo is not None:
        raise ValueError("a time of day has no zone")
    minutes = found.hour * 60 + found.minute
    return (minutes * 60 + found.second) * 1000 + found.microsecond // 1000


def day_of_text(text: str) -> int:
    """Read one date as days since 1970."""
    return date.fromisoformat(text).toordinal() - _EPOCH.toordinal()


def moment_values(column: pl.Series, times: Times) -> pl.Series:
    """Give timestamps as the format writes them: text or numbers."""
    if times.written == "number":
        return column.cast(pl.Int64) // times.unit
    return column.dt.strftime(times.pattern or _ISO)


def _by_pattern(texts: pa.Array, pattern: str) -> pa.Array:
    try:
        found = pl.Series(texts).str.to_datetime(
            pattern, time_unit="ms", time_zone="UTC", strict=True
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error).split("\n", 1)[0]) from error
    return found.to_arrow().cast(MOMENT)


def _nulls(values: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    found: np.ndarray[tuple[int], np.dtype[np.bool_]] = values.is_null().to_numpy(
        zero_copy_only=False
    )
    return found
