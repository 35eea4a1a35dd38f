"""Whether data of one JSON Schema is valid under another: the rules of Confluent's registry.

`contains`, `propertyNames`, `format` and `if` are not compared, as they are not there. A content
model is open where an object may have any other property, closed where none, and partially
open where others must fit a schema: a property may be added to one that is not open, and taken
from one that stays open.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

from penstock.schema.json_schema.compare_array import array_changes
from penstock.schema.json_schema.compare_object import object_changes
from penstock.schema.json_schema.compare_scalar import enum_changes, number_changes, string_changes
from penstock.schema.json_schema.difference import (
    Difference,
    any_breaks,
    bears,
    breaks,
    inside,
)
from penstock.schema.json_schema.document import JsonSchemaDocument
from penstock.schema.json_schema.matching import largest_matching
from penstock.schema.json_schema.nodes import COMBINED, Node, node_of
from penstock.schema.json_schema.place import Place

_NOTES = ("title", "description", "default")


def breaking_changes(writer: JsonSchemaDocument, reader: JsonSchemaDocument) -> tuple[str, ...]:
    """Say why data of a writer is not valid for a reader; nothing where it is."""
    found = (item for item in differences(writer, reader) if item.breaking)
    return tuple(dict.fromkeys(f"{item.place}: {item.words}" for item in found))


def differences(original: JsonSchemaDocument, update: JsonSchemaDocument) -> list[Difference]:
    """Give all that a second schema changes of a first one."""
    found = Comparison().compared(original.place, update.place, "#")
    return list(dict.fromkeys(found))


@dataclass(slots=True)
class Comparison:
    """Compares schemas; a pair that is being compared is not entered again."""

    running: set[tuple[object, ...]] = field(default_factory=set)
    known: dict[tuple[object, ...], list[Difference]] = field(default_factory=dict)

    def compared(
        self, original: Place | Node | None, update: Place | Node | None, place: str
    ) -> list[Difference]:
        """Compare what stands at two places, of which either may say nothing."""
        if original is None or update is None:
            if original is update:
                return []
            if original is None:
                return [breaks(place, "a schema is asked for where any value was right")]
            return [bears(place, "no schema is asked for any more")]
        before, after = node_of(original), node_of(update)
        pair = (before.key, after.key)
        if pair not in self.known:
            if pair in self.running:
                return []
            self.running.add(pair)
            try:
                # Found once for all the places that lead to this pair, and so without any.
                self.known[pair] = self._nodes(before, after, "")
            finally:
                self.running.discard(pair)
        return [replace(item, place=place + item.place) for item in self.known[pair]]

    def _nodes(self, before: Node, after: Node, place: str) -> list[Difference]:
        single = self._single(before, after, place)
        if single is not None:
            return single
        if before.kind != after.kind and not (before.kind in COMBINED and after.kind in COMBINED):
            if before.kind == "nothing" or after.kind == "anything":
                return []
            return [breaks(place, f"{_shown(before)} became {_shown(after)}")]
        return [*_notes(before, after, place), *self._alike(before, after, place)]

    def _single(self, before: Node, after: Node, place: str) -> list[Difference] | None:
        """Compare a combination with what is none, where one of its parts tells all."""
        combined_before, combined_after = before.kind in COMBINED, after.kind in COMBINED
        if combined_after and not combined_before:
            if len(after.parts) == 1:
                return self._if_it_fits(before, after.parts[0], place)
            if after.kind != "all":
                wider = bears(place, f"{after.name} takes other values besides")
                return self._first_fit([(before, part) for part in after.parts], place, wider)
        if combined_before and not combined_after:
            if len(before.parts) == 1:
                return self._if_it_fits(before.parts[0], after, place)
            if before.kind == "all":
                fewer = bears(place, "not all that was asked for is asked for any more")
                return self._first_fit([(part, after) for part in before.parts], place, fewer)
        return None

    def _if_it_fits(
        self, before: Place | Node, after: Place | Node, place: str
    ) -> list[Difference] | None:
        found = self.compared(before, after, place)
        return None if any_breaks(found) else found

    def _first_fit(
        self, pairs: list[tuple[Place | Node, Place | Node]], place: str, besides: Difference
    ) -> list[Difference] | None:
        for before, after in pairs:
            found = self.compared(before, after, place)
            if not any_breaks(found):
                return [*found, besides]
        return None

    def _alike(  # noqa: PLR0911  # one a kind
        self, before: Node, after: Node, place: str
    ) -> list[Difference]:
        match before.kind:
            case "string":
                return string_changes(before, after, place)
            case "number":
                return number_changes(before, after, place)
            case "enum":
                return enum_changes(before, after, place)
            case "object":
                return object_changes(self.compared, before, after, place)
            case "array":
                return array_changes(self.compared, before, after, place)
            case "not":
                return self._negated(before, after, place)
            case "all" | "any" | "one":
                return self._combined(before, after, place)
            case _:
                return []

    def _negated(self, before: Node, after: Node, place: str) -> list[Difference]:
        where = inside(place, "not")
        # What is forbidden may shrink, not grow: the other way round than what is allowed.
        found = self.compared(after.place.at("not"), before.place.at("not"), where)
        if any_breaks(found):
            return [breaks(where, "more is forbidden than before")]
        return [bears(where, "no more is forbidden than before")] if found else []

    def _combined(self, before: Node, after: Node, place: str) -> list[Difference]:
        if before.made and after.made and before.kind == after.kind == "all":
            return self._made(before, after, place)
        found = _criteria(before, after, place)
        if any_breaks(found):
            return found
        originals, updates = _distinct(before), _distinct(after)
        found.extend(_sizes(after, len(originals), len(updates), place))
        fits = {
            (i, j): changes
            for i, one in enumerate(originals)
            for j, other in enumerate(updates)
            if not any_breaks(changes := self.compared(one, other, inside(place, before.name, i)))
        }
        matched = largest_matching(len(originals), list(fits))
        for pair in matched.items():
            found.extend(fits[pair])
        if len(matched) < min(len(originals), len(updates)):
            left = [i for i in range(len(originals)) if i not in matched]
            shown = ", ".join(f"{i} ({_shown(node_of(originals[i]))})" for i in left)
            found.append(breaks(place, f"no branch of the new {after.name} takes branch {shown}"))
        return found

    def _made(self, before: Node, after: Node, place: str) -> list[Difference]:
        """Compare what two schemas say by kind, so that words name the keyword that changed."""
        earlier = {node_of(part).kind: part for part in before.parts}
        later = {node_of(part).kind: part for part in after.parts}
        found: list[Difference] = []
        for kind in earlier.keys() & later.keys():
            found.extend(self.compared(earlier[kind], later[kind], place))
        gone = [earlier[kind] for kind in earlier if kind not in later]
        new = [later[kind] for kind in later if kind not in earlier]
        for one, other in zip(gone, new, strict=False):
            found.extend(self.compared(one, other, place))
        found.extend(
            breaks(place, f"{_shown(node_of(part))} is asked for besides")
            for part in new[len(gone) :]
        )
        found.extend(
            bears(place, f"{_shown(node_of(part))} is not asked for any more")
            for part in gone[len(new) :]
        )
        return found


def _notes(before: Node, after: Node, place: str) -> list[Difference]:
    return [
        bears(place, f"the {word} changed")
        for word in _NOTES
        if before.said.get(word) != after.said.get(word)
    ]


def _criteria(before: Node, after: Node, place: str) -> list[Difference]:
    if before.kind == after.kind:
        return []
    alone = len(before.parts) == 1
    fits = (
        after.kind == "any"
        or (after.kind == "one" and alone)
        or (after.kind == "all" and alone and len(after.parts) == 1)
    )
    words = f"{before.name} became {after.name}"
    return [bears(place, words) if fits else breaks(place, words)]


def _sizes(after: Node, earlier: int, later: int, place: str) -> list[Difference]:
    if earlier == later:
        return []
    words = f"{after.name} had {earlier} and has {later} branch{'es' if later != 1 else ''}"
    # Each branch of allOf asks for something more; each of the others allows something more.
    stricter = later > earlier if after.kind == "all" else later < earlier
    return [breaks(place, words) if stricter else bears(place, words)]


def _distinct(node: Node) -> list[Place | Node]:
    found: dict[str, Place | Node] = {}
    for part in node.parts:
        own = node_of(part)
        raw = part.raw if isinstance(part, Place) else part.place.raw
        kind = "" if isinstance(part, Place) else f"{own.kind}{own.integer}"
        found.setdefault(json.dumps(raw, sort_keys=True) + kind, part)
    return list(found.values())


def _shown(node: Node) -> str:
    if node.made:
        word = " and " if node.kind == "all" else " or "
        return word.join(dict.fromkeys(_shown(node_of(part)) for part in node.parts))
    return node.name
