"""Changes of an Avro record as a user says them, made on its JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from penstock.errors import SchemaError, UsageError, did_you_mean

_WIDER: Mapping[str, tuple[str, ...]] = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
_WORDS = {"bigint": "long", "int64": "long", "int32": "int", "integer": "int", "real": "float",
          "float32": "float", "float64": "double", "text": "string", "binary": "bytes"}  # fmt: skip
_ADDED = re.compile(r"\s*(\S+)\s+(.*?)(?:\s+default\s+(.+))?\s*", re.DOTALL | re.IGNORECASE)


def added(root: dict[str, Any], text: str) -> None:
    """Add a field: nullable and null by default, or with a default of its own."""
    found = _ADDED.fullmatch(text)
    if found is None:
        raise UsageError(
            "EVOLVE_FORMAT",
            f'"{text}" is no field',
            hint='Write its name and type: --add "country string".',
        )
    way, kind, default = found.groups()
    record, name = _record(root, way)
    if any(item["name"] == name for item in record["fields"]):
        raise SchemaError(
            "EVOLVE_FIELD",
            f'field "{way}" is there already',
            hint="Choose another name, or widen the one that is there.",
        )
    field = _new_field(name, kind, f"{record['name']}_{name}")
    if default is not None:
        field = {"name": name, "type": field["type"][1], "default": _value(text, default)}
    record["fields"].append(field)


def dropped(root: dict[str, Any], way: str) -> None:
    """Take a field away."""
    record, name = _record(root, way.strip())
    record["fields"].remove(_field(record, name, way))


def renamed(root: dict[str, Any], text: str) -> None:
    """Give a field another name; by its alias, data under the old one is still read."""
    way, new = _pair(text, "--rename OLD=NEW")
    record, name = _record(root, way)
    field = _field(record, name, way)
    if any(item["name"] == new for item in record["fields"]):
        raise SchemaError(
            "EVOLVE_FIELD", f'field "{new}" is there already', hint="Choose another name."
        )
    aliases = [alias for alias in field.get("aliases", []) if alias != new]
    field["name"] = new
    field["aliases"] = [*aliases, name]


def widened(root: dict[str, Any], text: str) -> None:
    """Give a field a type that can hold all values of its own."""
    way, said = _pair(text, "--widen NAME=TYPE")
    record, name = _record(root, way)
    field = _field(record, name, way)
    wanted = _WORDS.get(said.lower(), said.lower())
    branches = field["type"] if isinstance(field["type"], list) else [field["type"]]
    places = [place for place, kind in enumerate(branches) if kind != "null"]
    own = branches[places[0]] if len(places) == 1 else None
    wider = _WIDER.get(own, ()) if isinstance(own, str) else ()
    if wanted not in wider:
        shown = own if isinstance(own, str) else json.dumps(field["type"])
        choice = f"It can become: {', '.join(wider)}." if wider else "It cannot be widened."
        raise SchemaError(
            "EVOLVE_WIDEN",
            f'field "{way}" is {shown}, which {said} is no wider type of',
            hint=choice,
        )
    if isinstance(field["type"], list):
        field["type"][places[0]] = wanted
    else:
        field["type"] = wanted


def _new_field(name: str, kind: str, record: str) -> dict[str, Any]:
    from penstock.schema.avro.columns import avro_of  # noqa: PLC0415
    from penstock.schema.schema import Field, Schema  # noqa: PLC0415
    from penstock.schema.text import parse_type  # noqa: PLC0415

    written = json.loads(avro_of(Schema((Field(name, parse_type(kind)),)), record))
    field: dict[str, Any] = written["fields"][0]
    return field


def _value(text: str, default: str) -> Any:  # noqa: ANN401  # JSON
    try:
        return json.loads(default)
    except ValueError:
        pass
    if re.fullmatch(r"'[^']*'|[A-Za-z_]\w*", default):
        return default.strip("'")
    raise UsageError(
        "EVOLVE_FORMAT",
        f'the default of "{text}" is no JSON',
        hint='Write a number, true, false, or a text in quotes: default "DE".',
    )


def _pair(text: str, form: str) -> tuple[str, str]:
    before, equals, after = (part.strip() for part in text.partition("="))
    if not (equals and before and after):
        raise UsageError("EVOLVE_FORMAT", f'"{text}" is no change', hint=f"Write it as {form}.")
    return before, after


def _record(root: dict[str, Any], way: str) -> tuple[dict[str, Any], str]:
    """Find the record that a dotted name ends in, and the name inside of it."""
    *above, name = way.split(".")
    record, passed = root, ""
    for part in above:
        passed = f"{passed}.{part}" if passed else part
        inner = _inner(_field(record, part, passed)["type"])
        if inner is None:
            raise SchemaError(
                "EVOLVE_FIELD",
                f'field "{passed}" is no record',
                hint="Only a record that is defined in place has fields to change.",
            )
        record = inner
    return record, name


def _inner(kind: Any) -> dict[str, Any] | None:  # noqa: ANN401
    for branch in kind if isinstance(kind, list) else [kind]:
        if isinstance(branch, dict) and branch.get("type") == "record":
            return branch
        if isinstance(branch, dict) and branch.get("type") == "array":
            return _inner(branch["items"])
        if isinstance(branch, dict) and branch.get("type") == "map":
            return _inner(branch["values"])
    return None


def _field(record: dict[str, Any], name: str, way: str) -> dict[str, Any]:
    names = [item["name"] for item in record["fields"]]
    if name not in names:
        raise SchemaError(
            "EVOLVE_FIELD",
            f'field "{way}" does not exist',
            hint=did_you_mean(name, names) or f"The fields: {', '.join(names)}.",
        )
    found: dict[str, Any] = record["fields"][names.index(name)]
    return found
