from __future__ import annotations

import pytest

from tests.front.sql.functions.evaluated import shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("""EXTRACTJSONFIELD('{"a": {"b": "c"}}', '$.a.b')""", "c"),
        ("""EXTRACTJSONFIELD('{"a": {"b": "c"}}', '$.a')""", '{"b":"c"}'),
        ("""EXTRACTJSONFIELD('{"a b": [1.50, 1E9]}', '$[''a b''][1]')""", "1E+9"),
        ("""EXTRACTJSONFIELD('{"@type": 1}}', '$.@type')""", "1"),
        ("""EXTRACTJSONFIELD('{"a": null}', '$.a') IS NULL""", "false"),
        ("""EXTRACTJSONFIELD('{"a": 1.50}', '$.a')""", "1.50"),
        ("JSON_ARRAY_CONTAINS('[1.5]', 1.5E0)", "true"),
        ("JSON_CONCAT('1E3')", "1000"),
        ("""EXTRACTJSONFIELD('{"a": 1}', '$.b')""", "null"),
        ("""EXTRACTJSONFIELD('{"a": 1}', '$.a.b')""", "null"),
        ("""EXTRACTJSONFIELD('[1]', '$[5]')""", "null"),
        ("""EXTRACTJSONFIELD('[1]', 'a')""", "null"),
        ("""EXTRACTJSONFIELD('[1]', '$..a')""", "null"),
        ("EXTRACTJSONFIELD('no json', '$.a')", "null"),
        ("IS_JSON_STRING('')", "false"),
        ("IS_JSON_STRING('{1}')", "false"),
        ("IS_JSON_STRING(NULL)", "false"),
        ("""JSON_ARRAY_CONTAINS('["Pink", null]', 'Pink')""", "true"),
        ("""JSON_ARRAY_CONTAINS('["1"]', 1)""", "false"),
        ("JSON_ARRAY_CONTAINS('[true]', TRUE)", "true"),
        ("JSON_ARRAY_CONTAINS('{', TRUE)", "false"),
        ("JSON_ARRAY_CONTAINS('{}', TRUE)", "false"),
        ("JSON_ARRAY_LENGTH('{}')", "null"),
        ("""JSON_CONCAT('{"a": {"5": 6}}', '{"a": {"3": 4}}')""", '{"a":{"3":4}}'),
        ("""JSON_CONCAT('[1, 2]', '{"a": 1}')""", '[1,2,{"a":1}]'),
        ("JSON_CONCAT('null', 'null')", "[null,null]"),
        ("JSON_CONCAT('', '1')", "null"),
        ("JSON_KEYS('[]')", "null"),
        ("""JSON_RECORDS('{"a": "b", "c": {"d": 1}}')""", '{a="b", c={"d":1}}'),
        ("JSON_ITEMS('[1]')", "null"),
        ("TO_JSON_STRING(STRUCT(B := 1, A := 'x'))", '{"A":"x","B":1}'),
        ("TO_JSON_STRING(MAP('b' := 1.5E0, 'a' := NULL))", '{"a":null,"b":1.5}'),
        ("TO_JSON_STRING(CAST(NULL AS INT))", "null"),
        ("TO_JSON_STRING(FROM_DAYS(1000))", '"1972-09-27"'),
        ("TO_JSON_STRING(TO_BYTES('a', 'ascii'))", '"YQ=="'),
        ("TO_JSON_STRING(1.50)", "1.50"),
        ("TO_JSON_STRING(SQRT(-1))", '"NaN"'),
    ],
)
def test_functions_of_json(text: str, expected: str) -> None:
    assert shown(text) == expected
