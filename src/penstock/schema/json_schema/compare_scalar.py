"""What changed between two schemas of texts, of numbers, or of listed values."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from penstock.schema.json_schema.difference import (
    Difference,
    bears,
    breaks,
    inside,
    limit_changes,
    number,
)
from penstock.schema.json_schema.nodes import Node


def string_changes(before: Node, after: Node, place: str) -> list[Difference]:
    """Compare two schemas of texts."""
    found = [
        change
        for word, least in (("minLength", True), ("maxLength", False))
        for change in limit_changes(
            place, word, number(before.said.get(word)), number(after.said.get(word)), least=least
        )
    ]
    earlier, later = before.said.get("pattern"), after.said.get("pattern")
    where = inside(place, "pattern")
    if later is None and earlier is not None:
        found.append(bears(where, f"the pattern {earlier} is gone"))
    elif earlier is None and later is not None:
        found.append(breaks(where, f"the pattern {later} is new"))
    elif earlier != later:
        found.append(breaks(where, f"the pattern {earlier} became {later}"))
    return found


def number_changes(before: Node, after: Node, place: str) -> list[Difference]:
    """Compare two schemas of numbers."""
    found: list[Difference] = []
    earlier, later = _limits(before), _limits(after)
    for word, limit in earlier.items():
        least = word.lower().endswith("minimum")
        found.extend(limit_changes(place, word, limit, later[word], least=least))
    found.extend(_multiple_changes(before, after, inside(place, "multipleOf")))
    if before.integer != after.integer:
        words = f"{before.name} became {after.name}"
        found.append(bears(place, words) if before.integer else breaks(place, words))
    return found


def enum_changes(before: Node, after: Node, place: str) -> list[Difference]:
    """Compare two lists of values; `const` is a list of one."""
    earlier, later = _values(before), _values(after)
    where = inside(place, "enum")
    gone = [text for text in earlier if text not in later]
    if gone:
        return [breaks(where, f"the values {', '.join(gone)} are not allowed any more")]
    new = [text for text in later if text not in earlier]
    return [bears(where, f"the values {', '.join(new)} are new")] if new else []


def _values(node: Node) -> list[str]:
    listed = node.said.get("enum", [node.said.get("const")])
    return [json.dumps(value, sort_keys=True, ensure_ascii=False) for value in listed]


def _limits(node: Node) -> dict[str, float | None]:
    said = node.said
    found = {
        word: number(said.get(word))
        for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
    }
    if node.place.draft.exclusive_flags:
        for word, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if said.get(exclusive) is True:
                found[exclusive], found[word] = found[word], None
    return found


def _multiple_changes(before: Node, after: Node, where: str) -> list[Difference]:
    earlier, later = _exact(before.said), _exact(after.said)
    if earlier == later:
        return []
    if earlier is None:
        return [breaks(where, f"multipleOf {later} is new")]
    if later is None:
        return [bears(where, f"multipleOf {earlier} is gone")]
    words = f"multipleOf went from {earlier} to {later}"
    return [bears(where, words) if earlier % later == 0 else breaks(where, words)]


def _exact(said: Any) -> Decimal | None:  # noqa: ANN401  # a mapping of JSON
    found = number(said.get("multipleOf"))
    return None if found is None or not found else Decimal(str(found))
