"""Avro schemas written as Java's library writes them: the text a registry keeps and compares.

Unlike the parsing canonical form it keeps documentation, defaults, aliases and whatever else
somebody added: all of that is part of what was registered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from penstock.schema.avro.parse import PRIMITIVES

_NAMED: Final = ("record", "error", "enum", "fixed")
_OWN: Final = frozenset(
    {"type", "name", "namespace", "doc", "fields", "items", "size", "symbols", "values", "aliases"}
)
_OWN_OF_FIELD: Final = frozenset({"name", "type", "doc", "default", "order", "aliases"})
_LISTS: Final = {"record": "fields", "error": "fields", "enum": "symbols", "fixed": "size"}


@dataclass(slots=True)
class AvroWriter:
    """Writes one schema. `known` are definitions to put in where they are first named."""

    known: Mapping[str, Any] = field(default_factory=dict)
    sort: bool = False
    written: set[str] = field(default_factory=set)

    def text(self, found: object) -> str:
        """Give the text of a schema that JSON says."""
        return json.dumps(self._node(found, "", ""), separators=(",", ":"), ensure_ascii=False)

    def _node(self, found: Any, inside: str, around: str) -> Any:  # noqa: ANN401  # JSON
        """Write a type; names are read `inside` a namespace and written `around` one."""
        if isinstance(found, str):
            return self._name(found, inside, around)
        if isinstance(found, list):
            return [self._node(branch, inside, around) for branch in found]
        kind = found["type"]
        if kind in _NAMED:
            return self._definition(found, inside, around)
        if kind not in (*PRIMITIVES, "array", "map"):
            return self._node(kind, inside, around)
        said: dict[str, Any] = {"type": kind}
        for part in ("items", "values"):
            if part in found:
                said[part] = self._node(found[part], inside, around)
        said |= self._more(found, _OWN)
        return kind if len(said) == 1 else said

    def _name(self, name: str, inside: str, around: str) -> Any:  # noqa: ANN401  # JSON
        if name in PRIMITIVES:
            return name
        full = _full(name, inside)
        # As the parser does: what the namespace does not have may have none.
        if full not in self.written and full not in self.known and name in self.known:
            full = name
        if full in self.known and full not in self.written:
            return self._node(self.known[full], "", around)
        namespace, _, simple = full.rpartition(".")
        return simple if namespace == around else full

    def _definition(self, found: Any, inside: str, around: str) -> dict[str, Any]:  # noqa: ANN401
        full = full_name(found, inside)
        self.written.add(full)
        namespace, _, simple = full.rpartition(".")
        kind = found["type"]
        said: dict[str, Any] = {"type": kind, "name": simple}
        if namespace != around:
            said["namespace"] = namespace
        if found.get("doc") is not None:
            said["doc"] = found["doc"]
        part = _LISTS[kind]
        said[part] = found[part]
        if part == "fields":
            said[part] = [self._field(one, namespace) for one in found[part]]
        if kind == "enum" and "default" in found:
            said["default"] = found["default"]
        own = _OWN | {"default"} if kind == "enum" else _OWN
        said |= self._more(found, own)
        if found.get("aliases"):
            said["aliases"] = found["aliases"]
        return said

    def _field(self, found: Any, namespace: str) -> dict[str, Any]:  # noqa: ANN401  # JSON
        said = {"name": found["name"], "type": self._node(found["type"], namespace, namespace)}
        if found.get("doc") is not None:
            said["doc"] = found["doc"]
        if "default" in found:
            said["default"] = found["default"]
        if found.get("order", "ascending") != "ascending":
            said["order"] = found["order"]
        if found.get("aliases"):
            said["aliases"] = found["aliases"]
        return said | self._more(found, _OWN_OF_FIELD)

    def _more(self, found: Mapping[str, Any], own: frozenset[str]) -> dict[str, Any]:
        """Give what somebody added to a schema."""
        more = {name: value for name, value in found.items() if name not in own}
        return _sorted(more) if self.sort else more


def definitions(found: Any, inside: str = "") -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Give the named types that a schema defines, by full name; each reads without a namespace."""
    if isinstance(found, list):
        return {name: one for part in found for name, one in definitions(part, inside).items()}
    if not isinstance(found, dict):
        return {}
    if found["type"] not in _NAMED:
        parts = [found[part] for part in ("items", "values") if part in found]
        return definitions(parts, inside)
    full = full_name(found, inside)
    namespace, _, simple = full.rpartition(".")
    fields = [one["type"] for one in found.get("fields", ())]
    whole = {**found, "name": simple, "namespace": namespace}
    return {full: whole, **definitions(fields, namespace)}


def full_name(found: Mapping[str, Any], inside: str) -> str:
    """Give the full name of a definition inside a namespace."""
    namespace = found.get("namespace")
    return _full(found["name"], inside if namespace is None else namespace)


def _full(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def _sorted(found: Any) -> Any:  # noqa: ANN401  # JSON
    if isinstance(found, dict):
        return {name: _sorted(found[name]) for name in sorted(found)}
    return [_sorted(one) for one in found] if isinstance(found, list) else found
