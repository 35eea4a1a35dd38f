"""The bodies of the registry's REST API: what comes in, read; what goes out, written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import orjson
from fastapi import HTTPException

from penstock.schema.codec.schemas import Reference
from penstock.schema.registry.entry import one_reference
from penstock.schema.registry.languages import language_named
from penstock.schema.registry.port import LEVEL_SETTING
from penstock.schema.registry.registered import Registered, Registration

LEVEL_WORD = "compatibility"
"""What the level is called in requests; answers call it `compatibilityLevel`."""

_UNPROCESSABLE = 422


def object_of(body: bytes) -> Mapping[str, Any]:
    """Read a body that must be an object; an empty one is refused like Confluent's server does."""
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise HTTPException(400, f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise HTTPException(_UNPROCESSABLE, "the body is no object")
    return found


def registration_of(body: bytes) -> Registration:
    """Read a schema that is to be registered, looked up or compared."""
    return registration_in(object_of(body))


def registration_in(found: Mapping[str, Any]) -> Registration:
    """Read a schema from what its JSON says."""
    text, kind = found.get("schema") or "", found.get("schemaType") or "AVRO"
    if not isinstance(text, str):
        _refuse('"schema" is no text; write the schema as a JSON string')
    references = found.get("references") or []
    if not isinstance(references, list):
        _refuse('"references" is no list')
    return Registration(
        text,
        language_named(str(kind)).type,
        tuple(_reference(one) for one in references),
        _document(found, "metadata"),
        _document(found, "ruleSet"),
        _number(found, "id"),
        _number(found, "version"),
    )


def settings_of(body: bytes) -> dict[str, Any]:
    """Read settings that are to change."""
    found = dict(object_of(body))
    level = found.pop(LEVEL_WORD, None)
    if level is not None:
        found[LEVEL_SETTING] = level
    return found


def version_answer(registered: Registered, text: str) -> dict[str, Any]:
    """Write a version with all that is kept about it."""
    answer: dict[str, Any] = {
        "subject": registered.subject,
        "version": registered.version,
        "id": registered.id,
        "guid": registered.guid,
    }
    if registered.schema.type != "AVRO":
        answer["schemaType"] = registered.schema.type
    if registered.schema.references:
        answer["references"] = [one_reference(one) for one in registered.schema.references]
    if registered.metadata is not None:
        answer["metadata"] = registered.metadata
    if registered.rules is not None:
        answer["ruleSet"] = registered.rules
    answer |= {"schema": text, "ts": registered.registered_at, "deleted": registered.deleted}
    return answer


def registration_answer(registered: Registered) -> dict[str, Any]:
    """Write what came of a registration; the text stays as the client has it."""
    # Not the schema: clients would keep it in place of their own, in another form than theirs.
    return {
        "id": registered.id,
        "version": registered.version,
        "guid": registered.guid,
    }


def _reference(found: object) -> Reference:
    if isinstance(found, dict):
        name, subject, version = (found.get(word) for word in ("name", "subject", "version"))
        if isinstance(name, str) and isinstance(subject, str) and isinstance(version, int):
            return Reference(name, subject, version)
    raise HTTPException(_UNPROCESSABLE, "a reference lacks its name, subject or version")


def _document(found: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    value = found.get(name)
    if value is not None and not isinstance(value, dict):
        _refuse(f'"{name}" is no object')
    return value


def _number(found: Mapping[str, Any], name: str) -> int | None:
    value = found.get(name)
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        _refuse(f'"{name}" is no number')
    return None if value is None or value < 0 else value


def _refuse(why: str) -> NoReturn:
    raise HTTPException(_UNPROCESSABLE, why)
