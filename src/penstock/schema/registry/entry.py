"""The records of the topic of schemas: JSON keys and values, as Confluent's registry has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from penstock.schema.codec.schemas import Reference, SchemaText
from penstock.schema.registry.association import Association, Resource
from penstock.schema.registry.registered import Registered

Json: TypeAlias = Mapping[str, Any]


class Entry(NamedTuple):
    """One record: what it is about, and what is so from now on; None takes it back."""

    key: Json
    value: Json | None

    def encoded(self) -> tuple[bytes, bytes | None]:
        """Give the record's key and value; the same key is always the same bytes."""
        return _bytes(self.key), None if self.value is None else _bytes(self.value)


def entry_of(key: bytes, value: bytes | None) -> Entry:
    """Read a record."""
    return Entry(json.loads(key), None if value is None else json.loads(value))


def schema_entry(registered: Registered) -> Entry:
    """A version, live or deleted for now."""
    schema = registered.schema
    value: dict[str, Any] = {
        "subject": registered.subject,
        "version": registered.version,
        "id": registered.id,
        "guid": registered.guid,
    }
    if schema.type != "AVRO":
        value["schemaType"] = schema.type
    if schema.references:
        value["references"] = [one_reference(reference) for reference in schema.references]
    if registered.metadata is not None:
        value["metadata"] = registered.metadata
    if registered.rules is not None:
        value["ruleSet"] = registered.rules
    value |= {"schema": schema.text, "deleted": registered.deleted, "ts": registered.registered_at}
    return Entry(_schema_key(registered.subject, registered.version), value)


def no_schema_entry(subject: str, version: int) -> Entry:
    """A version that is gone for ever."""
    return Entry(_schema_key(subject, version), None)


def subject_deleted_entry(subject: str, version: int) -> Entry:
    """All versions of a subject up to one, deleted for now."""
    return Entry(
        {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0},
        {"subject": subject, "version": version},
    )


def settings_entry(scope: str, settings: Json | None) -> Entry:
    """The settings of a subject, a context or (with "") all; None: it has none of its own."""
    key = {"keytype": "CONFIG", "subject": scope or None, "magic": 0}
    return Entry(key, None if settings is None else {"subject": scope or None, **settings})


def mode_entry(scope: str, mode: str | None) -> Entry:
    """The mode of a subject, a context or (with "") all; None: it has none of its own."""
    key = {"keytype": "MODE", "subject": scope or None, "magic": 0}
    return Entry(key, None if mode is None else {"subject": scope or None, "mode": mode})


def last_id_entry(context: str, last: int) -> Entry:
    """The highest id ever given in a context, so that none is given again after a deletion."""
    return Entry(
        {"keytype": "LAST_ID", "context": context, "magic": 0}, {"context": context, "id": last}
    )


def association_entry(one: Association) -> Entry:
    """A subject that a part of a resource goes by."""
    return Entry(_association_key(one), association_document(one))


def no_association_entry(one: Association) -> Entry:
    """An association that has ended."""
    return Entry(_association_key(one), None)


def association_document(one: Association) -> dict[str, Any]:
    """Write an association as JSON."""
    return {
        "subject": one.subject,
        "resourceName": one.resource.name,
        "resourceNamespace": one.resource.namespace,
        "resourceId": one.resource.id,
        "resourceType": one.resource.type,
        "associationType": one.part,
        "lifecycle": one.lifecycle,
        "frozen": one.frozen,
    }


def association_of(value: Json) -> Association:
    """Read what `association_document` wrote."""
    resource = Resource(
        value["resourceName"],
        value["resourceNamespace"],
        value.get("resourceId") or "",
        value["resourceType"],
    )
    return Association(
        resource,
        value["subject"],
        value["associationType"],
        value.get("lifecycle") or "WEAK",
        bool(value.get("frozen")),
    )


def registered_of(value: Json) -> Registered:
    """Read what `schema_entry` wrote."""
    references = tuple(reference_of(found) for found in value.get("references") or ())
    return Registered(
        value["subject"],
        value["version"],
        value["id"],
        SchemaText(value["schema"], value.get("schemaType") or "AVRO", references),
        value.get("guid") or "",
        value.get("metadata"),
        value.get("ruleSet"),
        bool(value.get("deleted")),
        value.get("ts") or 0,
    )


def one_reference(reference: Reference) -> dict[str, Any]:
    """Write a reference as JSON."""
    return {
        "name": reference.name,
        "subject": reference.subject,
        "version": reference.version,
    }


def reference_of(found: Json) -> Reference:
    """Read a reference."""
    return Reference(found["name"], found["subject"], found["version"])


def _association_key(one: Association) -> Json:
    return {
        "keytype": "ASSOC",
        "resourceName": one.resource.name,
        "resourceNamespace": one.resource.namespace,
        "resourceType": one.resource.type,
        "associationType": one.part,
        "magic": 0,
    }


def _schema_key(subject: str, version: int) -> Json:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}


def _bytes(document: Json) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
