"""What changed between two schemas of arrays."""

from __future__ import annotations

from penstock.schema.json_schema.compare_object import Compare
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


def array_changes(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    """Compare two schemas of arrays."""
    found = compare(_every_item(before), _every_item(after), inside(place, "items"))
    found = [*found, *_items(compare, before, after, place)]
    found.extend(_additional(compare, before, after, inside(place, "additionalItems")))
    for word, least in (("minItems", True), ("maxItems", False)):
        earlier, later = number(before.said.get(word)), number(after.said.get(word))
        found.extend(limit_changes(place, word, earlier, later, least=least))
    was, now = before.said.get("uniqueItems") is True, after.said.get("uniqueItems") is True
    where = inside(place, "uniqueItems")
    if now and not was:
        found.append(breaks(where, "no item may be there twice now"))
    elif was and not now:
        found.append(bears(where, "items may be there twice now"))
    return found


def _listed(node: Node) -> list[Place]:
    """The schemas of the first items, one each."""
    return node.place.listed("prefixItems") or node.place.listed("items")


def _every_item(node: Node) -> Place | None:
    """The schema of all items; beside `prefixItems`, `items` speaks of the others only."""
    return None if "prefixItems" in node.said else node.place.at("items")


def _said_of_others(node: Node) -> Place | None:
    if "prefixItems" in node.said:
        found = node.place.at("items")
    else:
        found = node.place.at("additionalItems")
    return node.place.at("unevaluatedItems") if found is None else found


def _others(node: Node) -> Place | None:
    said = _said_of_others(node)
    return said if said is not None and isinstance(said.raw, dict) else None


def _permits(node: Node) -> bool:
    said = _said_of_others(node)
    return said is None or said.raw is not False


def _items(compare: Compare, before: Node, after: Node, place: str) -> list[Difference]:
    earlier, later = _listed(before), _listed(after)
    found: list[Difference] = []
    for index in range(max(len(earlier), len(later))):
        where = inside(place, "items", index)
        if index >= len(later):
            found.extend(_removed(compare, earlier[index], after, where))
        elif index >= len(earlier):
            found.extend(_added(compare, later[index], before, where))
        else:
            found.extend(compare(earlier[index], later[index], where))
    return found


def _removed(compare: Compare, gone: Place, after: Node, where: str) -> list[Difference]:
    others = _others(after)
    if others is not None:
        changes = compare(gone, others, where)
        words = "the item is gone, and what other items may be takes other values"
        fits = "the item is gone, and still allowed as another"
        return [*changes, breaks(where, words) if any_breaks(changes) else bears(where, fits)]
    if _permits(after):
        return [bears(where, "the item is gone, and any other item is allowed")]
    if node_of(gone).kind == "nothing":
        return [bears(where, "the item is gone, which could never be there")]
    return [breaks(where, "the item is gone, and no other item is allowed")]


def _added(compare: Compare, new: Place, before: Node, where: str) -> list[Difference]:
    others = _others(before)
    if others is not None:
        changes = compare(others, new, where)
        words = "the item is new, and earlier data may have another value there"
        fits = "the item is new, and was allowed as another before"
        return [*changes, breaks(where, words) if any_breaks(changes) else bears(where, fits)]
    if not _permits(before):
        return [bears(where, "the item is new, and none was allowed there before")]
    if node_of(new).kind == "anything":
        return [bears(where, "the item is new and may be anything")]
    words = "the item is new, and earlier data may have any value there"
    return [breaks(where, words)]


def _additional(compare: Compare, before: Node, after: Node, where: str) -> list[Difference]:
    permits = (_permits(before), _permits(after))
    return others_changes(compare, permits, (_others(before), _others(after)), where, "other items")
