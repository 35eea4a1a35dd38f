"""Where a key goes: the hashes of the fields and partial key groupings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.inline.topology.grouping import FieldsChooser, PartialKeyChooser
from penstock.inline.topology.java_hash import JavaLong, bytes_hash, list_hash
from tests.conformance.runner import Case, Check, holds, same

TYPES: Mapping[str, Callable[[Any], object]] = {
    "boolean": bool,
    "bytes": lambda value: value.encode() if isinstance(value, str) else bytes(value),
    "double": float,
    "int": int,
    "integer": int,
    "long": JavaLong,
    "null": lambda value: value,
    "string": str,
}


def fields_hash(case: Case) -> None:
    given = case.given
    values = [TYPES[kind](v) for v, kind in zip(given["values"], given["types"], strict=True)]
    if "hash" in case.expect:
        same(list_hash(values), case.expect["hash"], "hash")
    for count, index in case.expect["task_index"].items():
        chosen = FieldsChooser(range(int(count)), range(len(values))).choose(values)
        same(list(chosen), [index], f"task of {count}")


def partial_key_candidates(case: Case) -> None:
    key, expect = case.given["key"], case.expect
    same(bytes_hash(key.encode()), expect["seed"], "seed")
    ways = {"no_fields": ((), False), "with_fields": ((0,), False), "older_releases": ((), True)}
    for name, (places, older) in ways.items():
        for count, candidates in expect.get(name, {}).items():
            partial = PartialKeyChooser(range(int(count)), places, older=older)
            same(list(partial.candidates((key,))), candidates, f"{name} of {count}")


def partial_key_choose(case: Case) -> None:
    given, expect = case.given, case.expect
    partial = PartialKeyChooser(given["tasks"], (0,) if given["fields"] else ())
    chosen = [partial.choose((key,))[0] for key in given["keys"]]
    named = dict(zip(expect["pattern"], chosen, strict=True))
    same([named[letter] for letter in expect["pattern"]], chosen, "pattern")
    if expect.get("x_differs_from_y"):
        holds(named["x"] != named["y"], "x differs from y")
    same(chosen, expect.get("derived_tasks", chosen), "tasks")


HASH_CHECKS: Mapping[str, Check] = {
    "fields_hash": fields_hash,
    "partial_key_candidates": partial_key_candidates,
    "partial_key_choose": partial_key_choose,
}
