"""Checks of what a schema says: validity, canonical form, fingerprints, compatibility."""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.errors import SchemaError
from penstock.schema.avro.compatibility import incompatibilities
from penstock.schema.avro.nodes import AvroSchema, Fixed, Primitive
from penstock.schema.avro.parse import parse_avro
from penstock.schema.avro.text import Algorithm, canonical_form, fingerprint, schema_text
from tests.conformance.runner import Case, Check, holds, same

_FINGERPRINTS: Mapping[str, tuple[Algorithm, bool]] = {
    "crc64_avro_hex_little_endian": ("CRC-64-AVRO", False),
    "crc64_avro_hex_big_endian": ("CRC-64-AVRO", True),
    "md5": ("MD5", False),
    "sha256": ("SHA-256", False),
}


def schema_of(given: object) -> AvroSchema:
    """Read a schema that a case gives as JSON."""
    return parse_avro(json.dumps(given))


def check_valid(case: Case) -> None:
    """A schema is taken or refused, and a logical type that does not suit is not there."""
    given = case.given["schema"]
    text = given if isinstance(given, str) else json.dumps(given)
    try:
        schema = parse_avro(text)
    except SchemaError as error:
        same(error.code, "AVRO_SCHEMA", "code")
        same(False, case.expect["valid"], "valid")  # noqa: FBT003  # what it is
        return
    same(True, case.expect["valid"], "valid")  # noqa: FBT003
    if case.expect.get("logical_type_ignored"):
        root = schema.root
        holds(isinstance(root, Primitive | Fixed) and root.logical is None, "a plain type is read")


def check_canonical(case: Case) -> None:
    """A schema has this canonical form, and the same after a way through its text."""
    # The form leaves defaults out, so the source does not look at them.
    schema = parse_avro(case.given["schema"], any_default=True)
    same(canonical_form(schema), case.expect["canonical"], "canonical form")
    again = parse_avro(schema_text(schema), any_default=True)
    same(canonical_form(again), case.expect["canonical"], "again")
    check_fingerprint(case)


def check_fingerprint(case: Case) -> None:
    """A schema has these fingerprints."""
    schema = parse_avro(case.given["schema"], any_default=True)
    for name, (algorithm, backwards) in _FINGERPRINTS.items():
        if name in case.expect:
            found = fingerprint(schema, algorithm)
            same((found[::-1] if backwards else found).hex(), case.expect[name], name)
    if "crc64_avro_signed" in case.expect:
        signed = int.from_bytes(fingerprint(schema), "little", signed=True)
        same(signed, case.expect["crc64_avro_signed"], "signed")


def check_compatible(case: Case) -> None:
    """A reader can read what a writer writes, or not for these reasons at these places."""
    found = incompatibilities(schema_of(case.given["reader"]), schema_of(case.given["writer"]))
    same(not found, case.expect["compatible"], "compatible")
    if "incompatibilities" in case.expect:
        reasons = {one.reason for one in found}
        same(reasons, set(case.expect["incompatibilities"]), "incompatibilities")
    if "locations" in case.expect:
        places, wanted = {one.location for one in found}, set(case.expect["locations"])
        # The source's library adds the root to a name that differs, whose place it also tells.
        same(places, wanted if "/" in places else wanted - {"/"}, "locations")
    holds(all(len(one.sentence) > len(one.reason) for one in found), "each is said in words")


SCHEMA_CHECKS: Mapping[str, Check] = {
    "schema_valid": check_valid,
    "canonical_form": check_canonical,
    "fingerprint": check_fingerprint,
    "reader_writer_compat": check_compatible,
}
