"""What changed between two schemas of objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from penstock.schema.json_schema.difference import (
    Difference,
    any_breaks,
    bears,
    breaks,
    inside,
    limit_changes,
    number,
    others_changes,
)
from penstock.schema.json_schema.nodes import Node, node_of
from penstock.schema.json_schema.place import Place

Compare: TypeAlias = Callable[[Place | None, Place | None, str], list[Difference]]
"""Compares what stands at two places."""


def object_changes(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    """Compare two schemas of objects."""
    return [
        *_required(before, after, place),
        *_properties(compare, before, after, place),
        *_dependencies(compare, before, after, place),
        *_additional(compare, before, after, place),
        *(
            change
            for word, least in (("minProperties", True), ("maxProperties", False))
            for change in limit_changes(
                place,
                word,
                number(before.said.get(word)),
                number(after.said.get(word)),
                least=least,
            )
        ),
    ]


def _required(before: Node, after: Node, place: str) -> list[Difference]:
    found: list[Difference] = []
    later = after.place.each("properties")
    for name in before.place.each("properties"):
        if name in later:
            was, now = name in _names(before), name in _names(after)
            where = inside(place, "required", name)
            if was and not now:
                found.append(bears(where, f'property "{name}" is not required any more'))
            elif now and not was and "default" in node_of(later[name]).said:
                found.append(bears(where, f'property "{name}", which has a default, is required'))
            elif now and not was:
                words = f'property "{name}" is required now, and earlier data may lack it'
                found.append(breaks(where, words))
    return found


def _names(node: Node) -> list[str]:
    said = node.said.get("required")
    return said if isinstance(said, list) else []


def _properties(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    earlier, later = before.place.each("properties"), after.place.each("properties")
    found: list[Difference] = []
    for name in [*earlier, *(name for name in later if name not in earlier)]:
        where = inside(place, "properties", name)
        if name not in later:
            found.extend(_removed(compare, name, earlier[name], after, where))
        elif name not in earlier:
            found.extend(_added(compare, name, before, after, where))
        else:
            found.extend(compare(earlier[name], later[name], where))
    return found


def _removed(compare: Compare, name: str, gone: Place, after: Node, where: str) -> list[Difference]:
    """A property may go where the content model stays open for it."""
    if _is_open(after):
        return [bears(where, f'property "{name}" is gone, and any other property is allowed')]
    covering = _covering(after, name)
    if covering is not None:
        changes = compare(gone, covering, where)
        if any_breaks(changes):
            words = f'property "{name}" is gone, and what may be there instead takes other values'
            return [*changes, breaks(where, words)]
        return [*changes, bears(where, f'property "{name}" is gone, and still allowed as another')]
    if node_of(gone).kind == "nothing":
        return [bears(where, f'property "{name}" is gone, which could never be there')]
    words = f'property "{name}" is gone, and no other property is allowed'
    return [breaks(where, words)]


def _added(compare: Compare, name: str, before: Node, after: Node, where: str) -> list[Difference]:
    """A property may come where the content model was not open, so that none was there."""
    new = after.place.each("properties")[name]
    if _is_open(before):
        if node_of(new).kind == "anything":
            return [bears(where, f'property "{name}" is new and may be anything')]
        words = (
            f'property "{name}" is new, and earlier data may have it with any other value,'
            " since any property was allowed"
        )
        return [breaks(where, words)]
    found: list[Difference] = []
    covering = _covering(before, name)
    if covering is not None:
        found.extend(compare(covering, new, where))
        if any_breaks(found):
            words = f'property "{name}" is new, and earlier data may have it with another value'
            found.append(breaks(where, words))
    if name not in _names(after):
        found.append(bears(where, f'property "{name}" is new and may be left out'))
    elif "default" in node_of(new).said:
        found.append(bears(where, f'property "{name}" is new, required, and has a default'))
    else:
        words = f'property "{name}" is new and required, and earlier data lacks it'
        found.append(breaks(where, words))
    return found


def _dependencies(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    found: list[Difference] = []
    earlier, later = _dependent_names(before), _dependent_names(after)
    for name in sorted({*earlier, *later}):
        where = inside(place, "dependencies", name)
        was, now = earlier.get(name, set()), later.get(name, set())
        new = sorted(now - was)
        if new:
            words = f'with property "{name}", {", ".join(new)} must be there too'
            found.append(breaks(where, words))
        elif was != now:
            found.append(bears(where, f'property "{name}" asks for fewer others'))
    before_schemas, after_schemas = _dependent_schemas(before), _dependent_schemas(after)
    for name in sorted({*before_schemas, *after_schemas}):
        where = inside(place, "dependencies", name)
        if name not in after_schemas:
            found.append(bears(where, f'property "{name}" asks for nothing more'))
        elif name not in before_schemas:
            found.append(breaks(where, f'property "{name}" asks for another schema too'))
        else:
            found.extend(compare(before_schemas[name], after_schemas[name], where))
    return found


def _dependent_names(node: Node) -> dict[str, set[str]]:
    # A keyword of another draft is no keyword, and may hold anything.
    said = [node.said.get(word) for word in ("dependencies", "dependentRequired")]
    return {
        name: set(map(str, value))
        for part in said
        if isinstance(part, dict)
        for name, value in part.items()
        if isinstance(value, list)
    }


def _dependent_schemas(node: Node) -> dict[str, Place]:
    return {**node.place.each("dependencies"), **node.place.each("dependentSchemas")}


def _additional(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    where = inside(place, "additionalProperties")
    permits = (_permits(before), _permits(after))
    schemas = (_additional_schema(before), _additional_schema(after))
    return others_changes(compare, permits, schemas, where, "other properties")


def _said_of_others(node: Node) -> Place | None:
    """What is said of properties that are not named; `unevaluatedProperties` is the newer word."""
    found = node.place.at("additionalProperties")
    return node.place.at("unevaluatedProperties") if found is None else found


def _permits(node: Node) -> bool:
    said = _said_of_others(node)
    return said is None or said.raw is not False


def _additional_schema(node: Node) -> Place | None:
    said = _said_of_others(node)
    return said if said is not None and isinstance(said.raw, dict) else None


def _is_open(node: Node) -> bool:
    return (
        not node.place.each("patternProperties")
        and _additional_schema(node) is None
        and _permits(node)
    )


def _covering(node: Node, name: str) -> Place | None:
    """Give the schema that a property has to fit which is not named."""
    for pattern, schema in node.place.each("patternProperties").items():
        try:
            if re.search(pattern, name):
                return schema
        except re.error:
            # A pattern of another dialect matches nothing here.
            continue
    return _additional_schema(node)
