from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import pytest

from penstock.schema.types import DATE, INT32, STRING, TIME, TIMESTAMP
from tests.front.sql.functions.evaluated import evaluate, shown

COLUMNS = {"DAY": DATE, "MOMENT": TIMESTAMP, "CLOCK": TIME, "FORM": STRING, "N": INT32}
ROW = (
    date(2022, 1, 31),
    datetime(2018, 5, 11, 21, 58, 33, 7000, UTC),
    time(23, 59, 59, 995000),
    "yyyy",
    1,
)
NULLS = (None,) * len(COLUMNS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FORMAT_TIMESTAMP(MOMENT, 'yyyy-MM-dd HH:mm:ss.SSS')", "2018-05-11 21:58:33.007"),
        ("FORMAT_TIMESTAMP(MOMENT, 'yyyy-MM-dd''T''HH:mm')", "2018-05-11T21:58"),
        ("FORMAT_TIMESTAMP(MOMENT, FORM)", "2018"),
        (
            "FORMAT_TIMESTAMP(MOMENT, 'HH:mm zzz', 'America/Los_Angeles')",
            "14:58 PDT",
        ),
        ("FORMAT_TIMESTAMP(MOMENT, 'EEEE d MMMM yy, h a')", "Friday 11 May 18, 9 PM"),
        ("FORMAT_TIMESTAMP(MOMENT, 'HH XXX X Z VV', '+0200')", "23 +02:00 +02 +0200 UTC+02:00"),
        ("FORMAT_TIMESTAMP(MOMENT, 'X')", "Z"),
        ("FORMAT_TIMESTAMP(MOMENT, 'bogus')", None),
        ("FORMAT_DATE(DAY, 'dd-MMM-yyyy''x''')", "31-Jan-2022x"),
        ("FORMAT_DATE(DAY, 'D Q')", "31 1"),
        ("FORMAT_TIME(CLOCK, 'HH_mm_ss_SSS')", "23_59_59_995"),
        ("DATEADD(DAYS, N, DAY)", date(2022, 2, 1)),
        ("DATEADD(MONTHS, N, DAY)", date(2022, 2, 28)),
        ("DATESUB(YEARS, N, DAY)", date(2021, 1, 31)),
        ("DATEADD(HOURS, -1, DAY)", date(2022, 1, 30)),
        ("TIMEADD(MILLISECONDS, 10, CLOCK)", time(0, 0, 0, 5000)),
        ("TIMESUB(HOURS, 24, CLOCK)", time(23, 59, 59, 995000)),
        ("TIMESTAMPADD(SECOND, N, MOMENT)", datetime(2018, 5, 11, 21, 58, 34, 7000, UTC)),
        ("TIMESTAMPSUB(MONTHS, N, MOMENT)", datetime(2018, 4, 11, 21, 58, 33, 7000, UTC)),
        ("UNIX_TIMESTAMP(MOMENT)", 1_526_075_913_007),
        ("UNIX_DATE(DAY)", 19_023),
        ("CONVERT_TZ(MOMENT, '+0200', '+0500')", datetime(2018, 5, 12, 0, 58, 33, 7000, UTC)),
        ("CONVERT_TZ(MOMENT, 'UTC', 'Nowhere/Land')", None),
    ],
)
def test_functions_of_moments(text: str, expected: Any) -> None:  # noqa: ANN401
    assert evaluate(text, COLUMNS, [ROW, NULLS]) == [expected, None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "PARSE_TIMESTAMP('2018-05-11T21:58:33', 'yyyy-MM-dd''T''HH:mm:ss')",
            "2018-05-11T21:58:33.000",
        ),
        (
            "PARSE_TIMESTAMP('2018-05-11 21', 'yyyy-MM-dd HH', 'Europe/Berlin')",
            "2018-05-11T19:00:00.000",
        ),
        ("PARSE_TIMESTAMP('11/May/18 9 PM +0100', 'dd/MMM/yy h a Z')", "2018-05-11T20:00:00.000"),
        ("PARSE_TIMESTAMP('20180511215833123', 'yyyyMMddHHmmssSSS')", "2018-05-11T21:58:33.123"),
        ("PARSE_TIMESTAMP('2018-131', 'yyyy-DDD')", "2018-05-11T00:00:00.000"),
        ("PARSE_TIMESTAMP('soon', 'yyyy')", "null"),
        ("PARSE_TIMESTAMP('2018-02-30', 'yyyy-MM-dd')", "null"),
        ("PARSE_DATE('2018-05', 'yyyy-MM')", "2018-05-01"),
        ("PARSE_TIME('01:00:00 Pm', 'hh:mm:ss a')", "13:00"),
        ("PARSE_TIME('00:01:05Lit', 'HH:mm:ss''Lit''')", "00:01:05"),
        ("STRINGTOTIMESTAMP('1970-01-01 01', 'yyyy-MM-dd HH', 'Europe/Berlin')", "0"),
        ("TIMESTAMPTOSTRING(1526075913000, 'yyyy-MM-dd HH', 'Asia/Tokyo')", "2018-05-12 06"),
        ("DATETOSTRING(-1, 'dd-MM-yyyy''Tage''')", "31-12-1969Tage"),
        ("STRINGTODATE('1969-12-31', 'yyyy-MM-dd')", "-1"),
        ("UNIX_TIMESTAMP() > 0", "true"),
        ("UNIX_DATE() > 0", "true"),
    ],
)
def test_moments_are_read_by_patterns(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "pattern",
    [
        "yyyy-MM-dd",
        "yyyy-MM-dd HH:mm:ss",
        "dd/MM/yyyy HH",
        "yyyyMMddHHmmssSSS",
        "ss:mm:HH dd.MM.yyyy",
    ],
)
@pytest.mark.parametrize("name", ["PARSE_TIMESTAMP", "PARSE_DATE", "STRINGTOTIMESTAMP"])
def test_a_constant_pattern_reads_as_one_in_a_column(name: str, pattern: str) -> None:
    moments = [
        ("2020", "02", "29", "23", "59", "59", "999"),
        ("2021", "02", "29", "23", "59", "59", "999"),
        ("1969", "1", "31", "00", "00", "00", "000"),
        ("1969", "12", "31", "24", "00", "00", "000"),
        ("1969", "12", "31", "00", "60", "00", "000"),
        ("1969", "12", "31", "00", "00", "60", "000"),
        ("0001", "13", "01", "00", "00", "00", "001"),
    ]
    texts = [None, "", "no moment at all"]
    for moment in moments:
        text = pattern
        for letters, digits in zip(
            ("yyyy", "MM", "dd", "HH", "mm", "ss", "SSS"), moment, strict=True
        ):
            text = text.replace(letters, digits)
        texts.append(text)
    constant = evaluate(f"{name}(S, '{pattern}')", {"S": STRING}, [(text,) for text in texts])
    column = evaluate(
        f"{name}(S, P)", {"S": STRING, "P": STRING}, [(text, pattern) for text in texts]
    )
    assert constant == column
    assert constant[3] is not None
