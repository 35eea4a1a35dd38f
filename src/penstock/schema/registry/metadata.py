"""Metadata and rules of a schema: checked, and completed by the settings of its subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from penstock.errors import RegistryError
from penstock.schema.registry.registered import Document, said

VERSION_PROPERTY: Final = "confluent:version"

_RULE_LISTS: Final = ("migrationRules", "domainRules", "encodingRules")
_RULE_KINDS: Final = ("TRANSFORM", "CONDITION")
_RULE_MODES: Final = ("UPGRADE", "DOWNGRADE", "UPDOWN", "WRITE", "READ", "WRITEREAD")


def check_rules(rules: Document | None) -> None:
    """Refuse rules that no client could follow: without a name, a type, or of no known kind."""
    for name in _RULE_LISTS:
        seen: set[str] = set()
        found = (rules or {}).get(name) or []
        if not isinstance(found, list):
            raise _no_rules(f'"{name}" is no list')
        for rule in found:
            _check_rule(rule, seen)


def merged_metadata(
    settings: Mapping[str, Any], own: Document | None, version: int, *, exact: bool
) -> Document | None:
    """Complete metadata: defaults of the settings below it, what they override above it.

    A version that was asked for by its number keeps that as a property, and so do later ones.
    """
    completed = _merged(settings.get("defaultMetadata"), own)
    merged = _merged(completed, settings.get("overrideMetadata"))
    properties = (merged or {}).get("properties") or {}
    if exact or VERSION_PROPERTY in properties:
        merged = _merged(merged, {"properties": {VERSION_PROPERTY: str(version)}})
    return said(merged)


def merged_rules(settings: Mapping[str, Any], own: Document | None) -> Document | None:
    """Complete rules by those of the settings; of two with one name the later one counts."""
    merged: dict[str, Any] = {}
    for layer in (settings.get("defaultRuleSet"), own, settings.get("overrideRuleSet")):
        for name, value in (layer or {}).items():
            if name in _RULE_LISTS and value:
                by_name = {rule["name"]: rule for rule in [*(merged.get(name) or []), *value]}
                merged[name] = list(by_name.values())
            elif value is not None:
                merged[name] = value
    return said(merged)


def _merged(below: Document | None, above: Document | None) -> Document | None:
    if below is None or above is None:
        return above if below is None else below
    merged = dict(below)
    for name, value in above.items():
        if isinstance(value, Mapping):
            merged[name] = {**(merged.get(name) or {}), **value}
        elif isinstance(value, list):
            merged[name] = list(dict.fromkeys([*(merged.get(name) or []), *value]))
        elif value is not None:
            merged[name] = value
    return merged


def _check_rule(rule: object, seen: set[str]) -> None:
    if not isinstance(rule, Mapping) or not isinstance(rule.get("name"), str) or not rule["name"]:
        raise _no_rules("a rule has no name")
    name = rule["name"]
    if name in seen:
        raise _no_rules(f'two rules have the name "{name}"')
    seen.add(name)
    if rule.get("kind") not in (None, *_RULE_KINDS):
        raise _no_rules(f'the kind of rule "{name}" is none of {", ".join(_RULE_KINDS)}')
    if rule.get("mode") not in (None, *_RULE_MODES):
        raise _no_rules(f'the mode of rule "{name}" is none of {", ".join(_RULE_MODES)}')


def _no_rules(why: str) -> RegistryError:
    return RegistryError(
        "RULES_FORM", f"{why}", hint="Give each rule a name, a kind, a mode and a type."
    )
