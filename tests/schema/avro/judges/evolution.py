"""Schemas that come after others: fields come and go, types widen, names change."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

from tests.schema.avro.judges.cases import PRIMITIVES, Json, Schemas

_WIDER = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
_DEFAULTS: dict[str, Any] = {
    "boolean": True,
    "int": -7,
    "long": 2**40,
    "float": 0.5,
    "double": 1e100,
    "bytes": "\u00ff\u0001",
    "string": "fallen back: ä",
}


class Evolution:
    """Makes a reader's schema of a writer's; some of the changes cannot be read across."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.added = 0

    def later(self, schema: Json) -> Json:
        """Give a schema of a later day."""
        return self._type(copy.deepcopy(schema), 1.0)

    def _type(self, found: Json, chance: float = 0.2) -> Json:  # noqa: PLR0911  # one a kind
        if isinstance(found, list):
            return self._union(found)
        if isinstance(found, str):
            return self._widened(found) if self.random.random() < chance else found
        match found["type"]:
            case "record":
                return self._record(found)
            case "array":
                return {**found, "items": self._type(found["items"])}
            case "map":
                return {**found, "values": self._type(found["values"])}
            case "enum":
                return self._enum(found)
            case _:
                return found

    def _widened(self, name: str) -> Json:
        match self.random.randrange(6):
            case 0:
                return ["null", name]
            case 1:
                return [*_WIDER.get(name, ())[:2], "null"]
            case 2:
                return self.random.choice(PRIMITIVES)
            case _:
                return self.random.choice(_WIDER.get(name, (name,)))

    def _union(self, found: list[Any]) -> Json:
        branches = [self._type(branch, 0.1) for branch in found]
        if any(isinstance(branch, list) for branch in branches):
            branches = list(found)
        kinds = [b if isinstance(b, str) else b.get("name", b["type"]) for b in branches]
        if len(set(kinds)) < len(kinds):
            branches = list(found)
        match self.random.randrange(8):
            case 0:
                self.random.shuffle(branches)
                return branches
            case 1 if len(branches) > 1:
                return branches[1:]
            case 2:
                return branches[0]
            case _:
                return branches

    def _enum(self, found: dict[str, Any]) -> Json:
        symbols = list(found["symbols"])
        match self.random.randrange(5):
            case 0:
                symbols = [*symbols[::-1], "NEW"]
            case 1 if len(symbols) > 1:
                symbols = symbols[1:]
            case 2:
                return {**found, "symbols": ["OTHER", symbols[0]], "default": "OTHER"}
            case _:
                pass
        return {**found, "symbols": symbols}

    def _record(self, found: dict[str, Any]) -> Json:
        fields = [{**item, "type": self._type(item["type"])} for item in found["fields"]]
        fields = [item for item in fields if self.random.random() < 0.85]
        for item in fields:
            if self.random.random() < 0.15:
                item["aliases"] = [item["name"]]
                item["name"] = f"renamed_{item['name']}"
        if self.random.random() < 0.3:
            self.random.shuffle(fields)
        if self.random.random() < 0.4:
            fields.append(self._new_field())
        renamed: dict[str, Any] = {}
        if self.random.random() < 0.15:
            # In the same namespace: Java knows the aliases of fields by their record's full name.
            space, dot, name = found["name"].rpartition(".")
            renamed = {"name": f"{space}{dot}Later{name}", "aliases": [found["name"]]}
        return {**found, **renamed, "fields": fields}

    def _new_field(self) -> dict[str, Any]:
        self.added += 1
        name = f"added_{self.added}"
        match self.random.randrange(7):
            case 0:
                return {"name": name, "type": ["null", "string"], "default": None}
            case 1:
                return {"name": name, "type": {"type": "array", "items": "int"}, "default": [1, 2]}
            case 2:
                kind = {"type": "map", "values": "double"}
                return {"name": name, "type": kind, "default": {"a": 1.5}}
            case 3:
                kind = Schemas(self.random, depth=0).of("enum", 0) | {"name": f"Added{self.added}"}
                return {"name": name, "type": kind, "default": kind["symbols"][-1]}
            case 4:
                inside = [{"name": "x", "type": "long"}, {"name": "y", "type": ["string", "null"]}]
                record = {"type": "record", "name": f"Added{self.added}", "fields": inside}
                return {"name": name, "type": record, "default": {"x": 3, "y": "z"}}
            case _:
                plain = self.random.choice(PRIMITIVES)
                item = {"name": name, "type": plain}
                # Without a default old values cannot be read at all.
                return item if self.random.random() < 0.1 else item | {"default": _DEFAULTS[plain]}
