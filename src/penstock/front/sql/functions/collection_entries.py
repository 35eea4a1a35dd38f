"""Functions of arrays, maps and JSON, and those that choose a value."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

_TWO_ARRAYS = "(ARRAY<T>, ARRAY<T>) ARRAY<T>"
_JSON = '{"a": {"b": [1, 2]}}'

ARRAYS: Mapping[str, Entry] = {
    "ARRAY_CONCAT": Entry(
        _TWO_ARRAYS,
        "Two arrays one after the other.",
        "ARRAY_CONCAT(ARRAY[1], ARRAY[1, 2])",
        "[1, 1, 2]",
    ),
    "ARRAY_CONTAINS": Entry(
        "(ARRAY<T>, T) BOOLEAN",
        "Whether a value is in an array.",
        "ARRAY_CONTAINS(ARRAY[1, 2], 2)",
        "true",
    ),
    "ARRAY_DISTINCT": Entry(
        "(ARRAY<T>) ARRAY<T>",
        "Each value once, by its first place.",
        "ARRAY_DISTINCT(ARRAY[2, 1, 2])",
        "[2, 1]",
    ),
    "ARRAY_EXCEPT": Entry(
        _TWO_ARRAYS,
        "The values of the first that are not in the second, each once.",
        "ARRAY_EXCEPT(ARRAY[1, 2, 3], ARRAY[2])",
        "[1, 3]",
    ),
    "ARRAY_INTERSECT": Entry(
        _TWO_ARRAYS,
        "The values that are in both, each once.",
        "ARRAY_INTERSECT(ARRAY[1, 2], ARRAY[2])",
        "[2]",
    ),
    "ARRAY_JOIN": Entry(
        "(ARRAY<T>) STRING; (ARRAY<T>, STRING) STRING",
        "The values as one text, a comma or another between them.",
        "ARRAY_JOIN(ARRAY[1, 2], '-')",
        "1-2",
    ),
    "ARRAY_LENGTH": Entry("(ARRAY<T>) INT", "How many values.", "ARRAY_LENGTH(ARRAY[1, 2])", "2"),
    "ARRAY_MAX": Entry("(ARRAY<T>) T", "The greatest value.", "ARRAY_MAX(ARRAY[1, 2])", "2"),
    "ARRAY_MIN": Entry("(ARRAY<T>) T", "The least value.", "ARRAY_MIN(ARRAY[1, 2])", "1"),
    "ARRAY_REMOVE": Entry(
        "(ARRAY<T>, T) ARRAY<T>",
        "The array without a value.",
        "ARRAY_REMOVE(ARRAY[1, 2, 1], 1)",
        "[2]",
    ),
    "ARRAY_SORT": Entry(
        "(ARRAY<T>) ARRAY<T>; (ARRAY<T>, STRING) ARRAY<T>",
        "In order, 'ASC' or 'DESC'; nulls at the end.",
        "ARRAY_SORT(ARRAY[2, 3, 1], 'DESC')",
        "[3, 2, 1]",
    ),
    "ARRAY_UNION": Entry(
        _TWO_ARRAYS,
        "The values of both, each once.",
        "ARRAY_UNION(ARRAY[1, 1], ARRAY[2])",
        "[1, 2]",
    ),
    "GENERATE_SERIES": Entry(
        "(INT, INT) ARRAY<INT>; (INT, INT, INT) ARRAY<INT>; (BIGINT, BIGINT) ARRAY<BIGINT>; "
        "(BIGINT, BIGINT, INT) ARRAY<BIGINT>",
        "The numbers from one to another, both included, by a step.",
        "GENERATE_SERIES(1, 5, 2)",
        "[1, 3, 5]",
    ),
    "SLICE": Entry(
        "(ARRAY<T>, INT, INT) ARRAY<T>",
        "The values from one place to another, both included.",
        "SLICE(ARRAY[1, 2, 3], 2, 3)",
        "[2, 3]",
    ),
}

MAPS: Mapping[str, Entry] = {
    "AS_MAP": Entry(
        "(ARRAY<STRING>, ARRAY<T>) MAP<STRING, T>",
        "A map of keys and values in two arrays.",
        "AS_MAP(ARRAY['a'], ARRAY[1])",
        "{a=1}",
    ),
    "ENTRIES": Entry(
        "(MAP<STRING, T>, BOOLEAN) =entries",
        "The entries as structs of K and V; TRUE sorts them by key.",
        "ENTRIES(MAP('a' := 1), TRUE)",
        "[Struct{K=a,V=1}]",
    ),
    "MAP_KEYS": Entry("(MAP<K, V>) ARRAY<K>", "The keys.", "MAP_KEYS(MAP('a' := 1))", "[a]"),
    "MAP_UNION": Entry(
        "(MAP<STRING, T>, MAP<STRING, T>) MAP<STRING, T>",
        "The entries of both; of a key in both, the second's.",
        "MAP_UNION(MAP('a' := 1), MAP('a' := 2))",
        "{a=2}",
    ),
    "MAP_VALUES": Entry("(MAP<K, V>) ARRAY<V>", "The values.", "MAP_VALUES(MAP('a' := 1))", "[1]"),
}

LAMBDAS: Mapping[str, Entry] = {
    "FILTER": Entry(
        "(ARRAY<T>, LAMBDA<T, BOOLEAN>) ARRAY<T>; (MAP<K, V>, LAMBDA<K, V, BOOLEAN>) MAP<K, V>",
        "The items for which a condition holds.",
        "FILTER(ARRAY[1, 2, 3], x => x > 1)",
        "[2, 3]",
    ),
    "REDUCE": Entry(
        "(ARRAY<T>, S, LAMBDA<S, T, S>) S; (MAP<K, V>, S, LAMBDA<S, K, V, S>) S",
        "One value, computed of a first one and of each item after the other.",
        "REDUCE(ARRAY[1, 2, 3], 10, (s, x) => s + x)",
        "16",
    ),
    "TRANSFORM": Entry(
        "(ARRAY<T>, LAMBDA<T, U>) ARRAY<U>; "
        "(MAP<K, V>, LAMBDA<K, V, J>, LAMBDA<K, V, U>) MAP<J, U>",
        "Each item replaced by what is computed of it; of a map, keys and values.",
        "TRANSFORM(ARRAY[1, 2], x => x * 10)",
        "[10, 20]",
    ),
}

CONDITIONAL: Mapping[str, Entry] = {
    "COALESCE": Entry(
        "(T, T...) T", "The first value that is not null.", "COALESCE(NULL, 2, 3)", "2"
    ),
    "IFNULL": Entry(
        "(T, T) T", "The first value, or the second where that is null.", "IFNULL(NULL, 2)", "2"
    ),
    "NULLIF": Entry("(T, T) T", "Null where both are equal, else the first.", "NULLIF(1, 2)", "1"),
    "AS_VALUE": Entry(
        "(T) T", "The value itself: a copy of a key, to have it in the value.", "AS_VALUE(1)", "1"
    ),
}

JSONS: Mapping[str, Entry] = {
    "EXTRACTJSONFIELD": Entry(
        "(STRING, STRING) STRING",
        "A part of a JSON text by a path.",
        f"EXTRACTJSONFIELD('{_JSON}', '$.a.b[1]')",
        "2",
    ),
    "IS_JSON_STRING": Entry(
        "(STRING) BOOLEAN", "Whether a text is JSON.", "IS_JSON_STRING('[1]')", "true"
    ),
    "JSON_ARRAY_CONTAINS": Entry(
        "(STRING, T) BOOLEAN",
        "Whether a value is in a JSON array.",
        "JSON_ARRAY_CONTAINS('[1, 2]', 2)",
        "true",
    ),
    "JSON_ARRAY_LENGTH": Entry(
        "(STRING) INT", "How many items a JSON array has.", "JSON_ARRAY_LENGTH('[1, 2]')", "2"
    ),
    "JSON_CONCAT": Entry(
        "(STRING...) STRING",
        "JSON objects merged, or arrays and values put together.",
        "JSON_CONCAT('[1]', '2')",
        "[1,2]",
    ),
    "JSON_ITEMS": Entry(
        "(STRING) ARRAY<STRING>",
        "The objects of a JSON array, each as a text.",
        """JSON_ITEMS('[{"a": 1}]')""",
        '[{"a":1}]',
    ),
    "JSON_KEYS": Entry(
        "(STRING) ARRAY<STRING>", "The names in a JSON object.", f"JSON_KEYS('{_JSON}')", "[a]"
    ),
    "JSON_RECORDS": Entry(
        "(STRING) MAP<STRING, STRING>",
        "The values in a JSON object by name, each as a text.",
        """JSON_RECORDS('{"a": 1}')""",
        "{a=1}",
    ),
    "TO_JSON_STRING": Entry(
        "(T) STRING", "Any value as JSON.", "TO_JSON_STRING(ARRAY[1, 2])", "[1,2]"
    ),
}
