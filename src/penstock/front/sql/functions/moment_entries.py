"""Functions of dates and times."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

_ZONED = "({0}, STRING) {1}; ({0}, STRING, STRING) {1}"


def _shift(verb: str, kind: str, example: str, result: str) -> Entry:
    return Entry(
        f"(UNIT, INT, {kind}) {kind}",
        f"A {kind} with time {verb}: a unit, how many.",
        example,
        result,
    )


def _part(what: str, example: str, result: str, *, kinds: str) -> Entry:
    declared = "; ".join(f"({kind}) INT" for kind in kinds.split())
    return Entry(declared, f"The {what} of a moment, in UTC.", example, result)


_DAYS = "TIMESTAMP DATE"
_HOURS = "TIMESTAMP TIME"
MOMENTS: Mapping[str, Entry] = {
    "CONVERT_TZ": Entry(
        "(TIMESTAMP, STRING, STRING) TIMESTAMP",
        "A clock's reading in one time zone as it is in another.",
        "CONVERT_TZ(FROM_UNIXTIME(0), 'UTC', '+0100')",
        "1970-01-01T01:00:00.000",
    ),
    "DATEADD": _shift("added", "DATE", "DATEADD(DAYS, 1, FROM_DAYS(0))", "1970-01-02"),
    "DATESUB": _shift("taken off", "DATE", "DATESUB(DAYS, 1, FROM_DAYS(0))", "1969-12-31"),
    "DATETOSTRING": Entry(
        "(INT, STRING) STRING",
        "Days since 1970 as a text.",
        "DATETOSTRING(0, 'dd/MM/yyyy')",
        "01/01/1970",
    ),
    "DAY": _part("day of the month", "DAY(FROM_DAYS(0))", "1", kinds=_DAYS),
    "FORMAT_DATE": Entry(
        "(DATE, STRING) STRING",
        "A date as a text.",
        "FORMAT_DATE(FROM_DAYS(0), 'd MMM yy')",
        "1 Jan 70",
    ),
    "FORMAT_TIME": Entry(
        "(TIME, STRING) STRING",
        "A time of day as a text.",
        "FORMAT_TIME(PARSE_TIME('13:05', 'HH:mm'), 'hh.mm a')",
        "01.05 PM",
    ),
    "FORMAT_TIMESTAMP": Entry(
        _ZONED.format("TIMESTAMP", "STRING"),
        "A moment as a text, in UTC or another time zone.",
        "FORMAT_TIMESTAMP(FROM_UNIXTIME(0), 'yyyy-MM-dd HH:mm')",
        "1970-01-01 00:00",
    ),
    "FROM_DAYS": Entry(
        "(INT) DATE", "The date so many days after 1970-01-01.", "FROM_DAYS(1)", "1970-01-02"
    ),
    "FROM_UNIXTIME": Entry(
        "(BIGINT) TIMESTAMP",
        "The moment so many milliseconds after 1970.",
        "FROM_UNIXTIME(1)",
        "1970-01-01T00:00:00.001",
    ),
    "HOUR": _part("hour", "HOUR(FROM_UNIXTIME(7200000))", "2", kinds=_HOURS),
    "MINUTE": _part("minute", "MINUTE(FROM_UNIXTIME(60000))", "1", kinds=_HOURS),
    "MONTH": _part("month", "MONTH(FROM_DAYS(31))", "2", kinds=_DAYS),
    "PARSE_DATE": Entry(
        "(STRING, STRING) DATE",
        "A date read from a text.",
        "PARSE_DATE('02/01/1970', 'dd/MM/yyyy')",
        "1970-01-02",
    ),
    "PARSE_TIME": Entry(
        "(STRING, STRING) TIME",
        "A time of day read from a text.",
        "PARSE_TIME('1305', 'HHmm')",
        "13:05",
    ),
    "PARSE_TIMESTAMP": Entry(
        _ZONED.format("STRING", "TIMESTAMP"),
        "A moment read from a text, in UTC or another time zone.",
        "PARSE_TIMESTAMP('1970-01-02', 'yyyy-MM-dd')",
        "1970-01-02T00:00:00.000",
    ),
    "SECOND": _part("second", "SECOND(FROM_UNIXTIME(5000))", "5", kinds=_HOURS),
    "STRINGTODATE": Entry(
        "(STRING, STRING) INT",
        "Days since 1970 read from a text.",
        "STRINGTODATE('02/01/1970', 'dd/MM/yyyy')",
        "1",
    ),
    "STRINGTOTIMESTAMP": Entry(
        _ZONED.format("STRING", "BIGINT"),
        "Milliseconds since 1970 read from a text.",
        "STRINGTOTIMESTAMP('1970-01-02', 'yyyy-MM-dd')",
        "86400000",
    ),
    "TIMEADD": _shift("added", "TIME", "TIMEADD(HOURS, 1, PARSE_TIME('23:30', 'HH:mm'))", "00:30"),
    "TIMESTAMPADD": _shift(
        "added",
        "TIMESTAMP",
        "TIMESTAMPADD(SECONDS, 1, FROM_UNIXTIME(0))",
        "1970-01-01T00:00:01.000",
    ),
    "TIMESTAMPSUB": _shift(
        "taken off",
        "TIMESTAMP",
        "TIMESTAMPSUB(SECONDS, 1, FROM_UNIXTIME(1000))",
        "1970-01-01T00:00:00.000",
    ),
    "TIMESTAMPTOSTRING": Entry(
        _ZONED.format("BIGINT", "STRING"),
        "Milliseconds since 1970 as a text.",
        "TIMESTAMPTOSTRING(0, 'yyyy')",
        "1970",
    ),
    "TIMESUB": _shift(
        "taken off", "TIME", "TIMESUB(HOURS, 1, PARSE_TIME('00:30', 'HH:mm'))", "23:30"
    ),
    "UNIX_DATE": Entry(
        "() INT; (DATE) INT",
        "Days since 1970: of a date, or of today.",
        "UNIX_DATE(FROM_DAYS(1))",
        "1",
    ),
    "UNIX_TIMESTAMP": Entry(
        "() BIGINT; (TIMESTAMP) BIGINT",
        "Milliseconds since 1970: of a moment, or of now.",
        "UNIX_TIMESTAMP(FROM_UNIXTIME(5))",
        "5",
    ),
    "YEAR": _part("year", "YEAR(FROM_DAYS(365))", "1971", kinds=_DAYS),
}
