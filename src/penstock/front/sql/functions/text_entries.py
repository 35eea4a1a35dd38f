"""Functions of text, bytes, regular expressions and URLs."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

_ONE = "(STRING) STRING"
_PADDED = "(STRING, INT, STRING) STRING; (BYTES, INT, BYTES) BYTES"
_MASKED = "(STRING, INT) STRING; (STRING, INT, STRING, STRING, STRING, STRING) STRING"
_GROUPED = "(STRING, STRING) {0}; (STRING, STRING, INT) {0}"

STRINGS: Mapping[str, Entry] = {
    "CHR": Entry(
        "(INT) STRING; (STRING) STRING",
        "The character of a code, as a number or as '\\\\u004b'.",
        "CHR(75)",
        "K",
    ),
    "CONCAT": Entry(
        "(STRING...) STRING; (BYTES...) BYTES",
        "Texts or bytes one after the other; nulls are left out.",
        "CONCAT('a', NULL, 'b')",
        "ab",
    ),
    "CONCAT_WS": Entry(
        "(STRING, STRING, STRING...) STRING; (BYTES, BYTES, BYTES...) BYTES",
        "Texts with another between them; nulls are left out.",
        "CONCAT_WS('-', 'a', 'b')",
        "a-b",
    ),
    "ELT": Entry(
        "(INT, STRING...) STRING", "The n-th of the texts that follow.", "ELT(2, 'a', 'b')", "b"
    ),
    "ENCODE": Entry(
        "(STRING, STRING, STRING) STRING",
        "A text in another encoding: hex, utf8, ascii or base64.",
        "ENCODE('4b', 'hex', 'utf8')",
        "K",
    ),
    "FIELD": Entry(
        "(STRING, STRING...) INT",
        "The place of a text among those that follow, or 0.",
        "FIELD('b', 'a', 'b')",
        "2",
        "position",
    ),
    "FROM_BYTES": Entry(
        "(BYTES, STRING) STRING",
        "Bytes as text by an encoding: hex, utf8, ascii or base64.",
        "FROM_BYTES(TO_BYTES('K', 'utf8'), 'hex')",
        "4B",
    ),
    "INITCAP": Entry(_ONE, "Each word with a capital letter.", "INITCAP('the fOx')", "The Fox"),
    "INSTR": Entry(
        "(STRING, STRING) INT; (STRING, STRING, INT) INT; (STRING, STRING, INT, INT) INT",
        "The place of a text in another: from a place on, from the end below 0, or its n-th.",
        "INSTR('minor mirror', 'or')",
        "4",
    ),
    "LCASE": Entry(_ONE, "The text in small letters.", "LCASE('Ab')", "ab"),
    "LEN": Entry("(STRING) INT; (BYTES) INT", "How many characters, or bytes.", "LEN('abc')", "3"),
    "LPAD": Entry(
        _PADDED, "Filled from the left to a length, or cut to it.", "LPAD('7', 3, '0')", "007"
    ),
    "MASK": Entry(
        "(STRING) STRING; (STRING, STRING, STRING, STRING, STRING) STRING",
        "Capital letters, small letters, digits and others replaced; NULL leaves a kind as it is.",
        "MASK('My Test $123')",
        "Xx-Xxxx--nnn",
    ),
    "MASK_KEEP_LEFT": Entry(
        _MASKED,
        "As MASK, but the first characters are kept.",
        "MASK_KEEP_LEFT('Abc12', 2)",
        "Abxnn",
    ),
    "MASK_KEEP_RIGHT": Entry(
        _MASKED,
        "As MASK, but the last characters are kept.",
        "MASK_KEEP_RIGHT('Abc12', 2)",
        "Xxx12",
    ),
    "MASK_LEFT": Entry(
        _MASKED, "As MASK, of the first characters only.", "MASK_LEFT('Abc12', 2)", "Xxc12"
    ),
    "MASK_RIGHT": Entry(
        _MASKED, "As MASK, of the last characters only.", "MASK_RIGHT('Abc12', 2)", "Abcnn"
    ),
    "MD5": Entry(
        _ONE,
        "The MD5 sum of a text, in hexadecimal digits.",
        "MD5('a')",
        "0cc175b9c0f1b6a831c399e269772661",
    ),
    "REPLACE": Entry(
        "(STRING, STRING, STRING) STRING",
        "A part of a text replaced everywhere.",
        "REPLACE('abab', 'a', 'c')",
        "cbcb",
    ),
    "RPAD": Entry(
        _PADDED, "Filled from the right to a length, or cut to it.", "RPAD('7', 3, '0')", "700"
    ),
    "SPLIT": Entry(
        "(STRING, STRING) ARRAY<STRING>; (BYTES, BYTES) ARRAY<BYTES>",
        "The parts between a delimiter.",
        "SPLIT('a.b', '.')",
        "[a, b]",
    ),
    "SPLIT_INDEX": Entry(
        "(STRING, STRING, INT) STRING",
        "The part between a delimiter at a place, of which the first is 0.",
        "SPLIT_INDEX('a/b/c', '/', 1)",
        "b",
    ),
    "SPLIT_TO_MAP": Entry(
        "(STRING, STRING, STRING) MAP<STRING, STRING>",
        "A map of entries between one delimiter, key and value between another.",
        "SPLIT_TO_MAP('a:1,b:2', ',', ':')",
        "{a=1, b=2}",
    ),
    "SUBSTRING": Entry(
        "(STRING, INT) STRING; (STRING, INT, INT) STRING; "
        "(BYTES, INT) BYTES; (BYTES, INT, INT) BYTES",
        "The part from a place on (from the end, where it is below 0), of a length.",
        "SUBSTRING('stream', 2, 3)",
        "tre",
    ),
    "TO_BYTES": Entry(
        "(STRING, STRING) BYTES",
        "The bytes of a text by an encoding: hex, utf8, ascii or base64.",
        "TO_BYTES('4b', 'hex')",
        "Sw==",
    ),
    "TRIM": Entry(_ONE, "The text without white space at its ends.", "TRIM(' a ')", "a"),
    "UCASE": Entry(_ONE, "The text in capital letters.", "UCASE('Ab')", "AB"),
    "UUID": Entry(
        "() STRING; (BYTES) STRING",
        "A new UUID for every row, or the one of 16 bytes.",
        "LEN(UUID())",
        "36",
    ),
}

REGULAR_EXPRESSIONS: Mapping[str, Entry] = {
    "REGEXP_EXTRACT": Entry(
        _GROUPED.format("STRING"),
        "The first match of a pattern in a text, or a group of it.",
        "REGEXP_EXTRACT('a(.)', 'abac', 1)",
        "b",
    ),
    "REGEXP_EXTRACT_ALL": Entry(
        _GROUPED.format("ARRAY<STRING>"),
        "All matches of a pattern in a text, or a group of them.",
        "REGEXP_EXTRACT_ALL('a.', 'abac')",
        "[ab, ac]",
    ),
    "REGEXP_REPLACE": Entry(
        "(STRING, STRING, STRING) STRING",
        "All matches of a pattern replaced; $1 is the first group.",
        "REGEXP_REPLACE('abac', 'a(.)', '$1')",
        "bc",
    ),
    "REGEXP_SPLIT_TO_ARRAY": Entry(
        "(STRING, STRING) ARRAY<STRING>",
        "The parts between matches of a pattern.",
        "REGEXP_SPLIT_TO_ARRAY('a1b22c', '[0-9]+')",
        "[a, b, c]",
    ),
}

_URL = "http://me@penstock.io:8080/a%20b?q=1#top"
URLS: Mapping[str, Entry] = {
    "URL_DECODE_PARAM": Entry(
        _ONE, "A text of a URL without its escapes.", "URL_DECODE_PARAM('a%20b')", "a b"
    ),
    "URL_ENCODE_PARAM": Entry(
        _ONE, "A text as it may stand in a URL.", "URL_ENCODE_PARAM('a b')", "a+b"
    ),
    "URL_EXTRACT_FRAGMENT": Entry(
        _ONE, "What follows # in a URL.", f"URL_EXTRACT_FRAGMENT('{_URL}')", "top"
    ),
    "URL_EXTRACT_HOST": Entry(
        _ONE, "The host of a URL.", f"URL_EXTRACT_HOST('{_URL}')", "penstock.io"
    ),
    "URL_EXTRACT_PARAMETER": Entry(
        "(STRING, STRING) STRING",
        "A parameter of a URL by its name.",
        f"URL_EXTRACT_PARAMETER('{_URL}', 'q')",
        "1",
    ),
    "URL_EXTRACT_PATH": Entry(_ONE, "The path of a URL.", f"URL_EXTRACT_PATH('{_URL}')", "/a b"),
    "URL_EXTRACT_PORT": Entry(
        "(STRING) INT", "The port of a URL.", f"URL_EXTRACT_PORT('{_URL}')", "8080"
    ),
    "URL_EXTRACT_PROTOCOL": Entry(
        _ONE, "The protocol of a URL.", f"URL_EXTRACT_PROTOCOL('{_URL}')", "http"
    ),
    "URL_EXTRACT_QUERY": Entry(
        _ONE, "What follows ? in a URL.", f"URL_EXTRACT_QUERY('{_URL}')", "q=1"
    ),
}
