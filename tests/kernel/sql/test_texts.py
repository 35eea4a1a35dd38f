from __future__ import annotations

from typing import Any

import pytest

from penstock.schema.types import BYTES, INT32, STRING
from tests.front.sql.functions.evaluated import evaluate, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CHR(22909)", "好"),
        ("CHR(-1)", "null"),
        (r"CHR('\u004b')", "K"),
        (r"CHR('\ud83d\ude00!')", "😀!"),
        ("CHR('K')", "null"),
        ("CONCAT_WS('-', NULL, 'b')", "b"),
        ("CONCAT_WS(NULL, 'a', 'b')", "null"),
        ("CONCAT(TO_BYTES('a', 'ascii'), TO_BYTES('b', 'ascii'))", "YWI="),
        ("ELT(0, 'a')", "null"),
        ("FIELD(NULL, 'a')", "0"),
        ("INSTR('minor mirror for', 'or', 5)", "11"),
        ("INSTR('minor mirror for', 'or', -4)", "11"),
        ("INSTR('minor mirror for', 'or', 2, 3)", "15"),
        ("INSTR('minor mirror for', 'or', -4, 2)", "4"),
        ("INSTR('minor mirror for', 'none')", "0"),
        ("INSTR(NULL, 'a')", "0"),
        ("LPAD('foo', 2, 'x')", "fo"),
        ("RPAD('foo', -1, 'x')", "null"),
        ("RPAD('foo', 7, '')", "null"),
        ("RPAD('foo', 7, 'Bar')", "fooBarB"),
        ("LPAD(TO_BYTES('7', 'ascii'), 2, TO_BYTES('0', 'ascii'))", "MDc="),
        ("SUBSTRING('stream', -4)", "ream"),
        ("SUBSTRING('stream', -4, 2)", "re"),
        ("SUBSTRING('stream', 9)", ""),
        ("SUBSTRING('stream', 2, NULL)", "null"),
        ("SUBSTRING(TO_BYTES('stream', 'ascii'), 2, 3)", "dHJl"),
        ("SPLIT('a.b.', '.')", "[a, b, ]"),
        ("SPLIT('ab', '')", "[a, b]"),
        ("SPLIT('', '.')", "[]"),
        ("SPLIT_TO_MAP('a:1//a:2/b', '/', ':')", "{a=2}"),
        ("SPLIT_TO_MAP('a', '/', '/')", "null"),
        ("TRIM(CONCAT(CHR(9), ' a '))", "a"),
        ("NULLIF('a', 'a')", "null"),
        ("NULLIF(ARRAY[1], ARRAY[1])", "null"),
        ("NULLIF(NULL, 'a')", "null"),
        ("IFNULL(ARRAY[1], ARRAY[2])", "[1]"),
        ("LEN(TO_BYTES('abc', 'ascii'))", "3"),
        ("REPLACE('abc', 'x', 'y')", "abc"),
        ("UUID(TO_BYTES('00000000000000000000000000000001', 'hex'))",
         "00000000-0000-0000-0000-000000000001"),
        ("UUID(TO_BYTES('00', 'hex'))", "null"),
        ("MASK('aB1!', '*', NULL, '#', NULL)", "a*#!"),
        ("MASK('aB1!', 'wide', NULL, '#', NULL)", "null"),
        ("MASK_LEFT('aB1!', 2, NULL, '*', NULL, NULL)", "*B1!"),
        ("MASK_LEFT('aB1!', 99)", "xXn-"),
        ("MASK_LEFT('aB1!', -1)", "null"),
        ("ENCODE('0x4b', 'hex', 'ascii')", "K"),
        ("ENCODE('X''4b''', 'hex', 'base64')", "Sw=="),
        ("ENCODE('0x5', 'hex', 'base64')", "BQ=="),
        ("ENCODE('4', 'hex', 'ascii')", "null"),
        ("ENCODE('Ελ', 'ascii', 'hex')", "3f3f"),
        ("ENCODE('a', 'latin', 'hex')", "null"),
        ("INT_FROM_BYTES(TO_BYTES('E5070000', 'hex'), 'LITTLE_ENDIAN')", "2021"),
        ("INT_FROM_BYTES(TO_BYTES('E507', 'hex'))", "null"),
        ("URL_EXTRACT_HOST('http://www.test.com/?query#fragment')", "www.test.com"),
        ("URL_EXTRACT_PORT('http://test.com')", "null"),
        ("URL_EXTRACT_QUERY('http://test.com')", "null"),
        ("URL_EXTRACT_PARAMETER('http://t.io/?one=a&two=b%20c&three', 'two')", "b c"),
        ("URL_EXTRACT_PARAMETER('http://t.io/?one=a', 'none')", "null"),
        ("URL_EXTRACT_HOST('no url at all')", "null"),
        ("URL_ENCODE_PARAM('a b?=c')", "a+b%3F%3Dc"),
        ("REGEXP_EXTRACT('(.*) (.*)', 'steven zhang', 2)", "zhang"),
        ("REGEXP_EXTRACT('(a)', 'b')", "null"),
        ("REGEXP_EXTRACT('(a)', 'a', 3)", "null"),
        ("REGEXP_EXTRACT('(', 'a')", "null"),
        (r"REGEXP_EXTRACT('[\p{Alpha}]+', '12ab')", "ab"),
        ("REGEXP_EXTRACT_ALL('(a)(.)', 'abac', 2)", "[b, c]"),
        ("REGEXP_EXTRACT_ALL('test.', 'nothing')", "[]"),
        ("REGEXP_REPLACE('baababaa', '(ab)+', 'cat')", "bacataa"),
        (r"REGEXP_REPLACE('a.b', '\.', '\$')", "a$b"),
        ("REGEXP_SPLIT_TO_ARRAY('abc', '')", "[a, b, c]"),
        ("REGEXP_SPLIT_TO_ARRAY('a,b,', ',')", "[a, b, ]"),
        ("REGEXP_SPLIT_TO_ARRAY('a1b2', '[0-9]*')", "[a, , b]"),
    ],
)  # fmt: skip
def test_functions_of_text(text: str, expected: str) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LCASE(S)", ["ab", None]),
        ("CONCAT(S, '!')", ["aB!", "!"]),
        ("SUBSTRING(S, N)", ["B", None]),
        ("LPAD(S, 3, '-')", ["-aB", None]),
        ("LEN(R)", [2, None]),
        ("MASK(S)", ["xX", None]),
        ("CONCAT_WS('/', S, 'x')", ["aB/x", "x"]),
        ("ELT(N, 'a', 'b')", ["b", None]),
    ],
)
def test_a_null_among_the_rows(text: str, expected: list[Any]) -> None:
    columns = {"S": STRING, "N": INT32, "R": BYTES}
    assert evaluate(text, columns, [("aB", 2, b"ab"), (None, None, None)]) == expected


def test_constants_are_taken_as_columns_are() -> None:
    columns = {"S": STRING, "P": STRING, "N": STRING}
    rows = [("a.b.", ".", "-"), ("", ".", "-"), ("$1.$1", ".", "-"), (None, ".", "-")]
    assert evaluate("SPLIT(S, '.')", columns, rows) == evaluate("SPLIT(S, P)", columns, rows)
    constant = evaluate("REPLACE(S, '.', '-')", columns, rows)
    assert constant == evaluate("REPLACE(S, P, N)", columns, rows)
    assert evaluate("REPLACE('a', CAST(NULL AS STRING), 'b')") == [None]
    assert evaluate("REPLACE(S, 'b', '$1')", columns, rows)[0] == "a.$1."


def test_a_uuid_is_another_in_every_row() -> None:
    found = evaluate("UUID()", {"N": INT32}, [(1,), (2,)])
    assert len(set(found)) == 2
