"""Functions of times in one row; text as the first argument names a column. All in UTC."""

from __future__ import annotations

from typing import Literal, TypeAlias

from penstock.front.dsl.expression import Expression, Subject, call, subject

Unit: TypeAlias = Literal[
    "year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"
]


def year(time: Subject) -> Expression:
    """Give the year."""
    return call("year", subject(time))


def month(time: Subject) -> Expression:
    """Give the month from 1 to 12."""
    return call("month", subject(time))


def day(time: Subject) -> Expression:
    """Give the day of the month."""
    return call("day", subject(time))


def hour(time: Subject) -> Expression:
    """Give the hour from 0 to 23."""
    return call("hour", subject(time))


def minute(time: Subject) -> Expression:
    """Give the minute from 0 to 59."""
    return call("minute", subject(time))


def second(time: Subject) -> Expression:
    """Give the second from 0 to 59."""
    return call("second", subject(time))


def date_trunc(unit: Unit, time: Subject) -> Expression:
    """Give the beginning of the year, month, ... that a time lies in; weeks begin on Monday."""
    return call("date_trunc", unit, subject(time))


def millis(time: Subject) -> Expression:
    """Give a timestamp as milliseconds since 1970."""
    return call("millis", subject(time))


def from_millis(number: Subject) -> Expression:
    """Give the timestamp of milliseconds since 1970."""
    return call("from_millis", subject(number))


def to_date(time: Subject) -> Expression:
    """Give the day of a timestamp, or of text such as 2024-12-31."""
    return call("to_date", subject(time))
