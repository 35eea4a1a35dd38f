from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import Schemas, SchemaText
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.registry.registered import Registration
from penstock.schema.registry.registry import Registry
from tests.schema.registry.kit import a_registry, naming, record

A, AB, C = record("a"), record("a", b="x"), record("c")


@pytest.fixture
def registry() -> Registry:
    return a_registry()


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(RegistryError) as caught:
        act()
    return caught.value.code


def test_it_is_what_codecs_and_everybody_else_ask_for(registry: Registry) -> None:
    asked: Schemas = registry
    whole: SchemaRegistry = registry
    assert asked is whole


def test_a_schema_gets_an_id_and_a_version_and_keeps_them(registry: Registry) -> None:
    first = registry.register("orders-value", A)
    assert (first.id, first.version) == (1, 1)
    assert registry.register("orders-value", A) == first
    second = registry.register("orders-value", AB)
    assert (second.id, second.version) == (2, 2)
    assert registry.by_id(1) == first.schema
    assert registry.version("orders-value") == second
    assert registry.version("orders-value", 1) == first
    assert registry.lookup("orders-value", AB) == second


def test_the_same_schema_has_the_same_id_under_every_subject(registry: Registry) -> None:
    registry.register("orders-value", A)
    again = registry.register("returns-value", A)
    assert (again.id, again.version) == (1, 1)
    assert [one.subject for one in registry.all_with_id(1)] == ["orders-value", "returns-value"]


def test_white_space_and_the_order_of_words_make_no_other_schema(registry: Registry) -> None:
    registry.register("s", SchemaText('{"type": "record", "name": "R", "fields": []}'))
    again = SchemaText('{ "fields":[],\n "name":"R","type":"record" }')
    assert registry.register("s", again).version == 1
    assert registry.version("s").schema.text == '{"type":"record","name":"R","fields":[]}'


def test_normalizing_orders_what_somebody_added(registry: Registry) -> None:
    one = SchemaText('{"type":"record","name":"R","fields":[],"x":{"a":1,"b":2}}')
    other = SchemaText('{"type":"record","name":"R","fields":[],"x":{"b":2,"a":1}}')
    registry.register("s", one, normalize=True)
    assert registry.lookup("s", other, normalize=True).version == 1
    assert refused(lambda: registry.lookup("s", other)) == "SCHEMA_MISSING"


def test_an_incompatible_schema_is_refused_with_the_reason_and_takes_no_id(
    registry: Registry,
) -> None:
    registry.register("s", A)
    with pytest.raises(RegistryError, match="SCHEMA_INCOMPATIBLE") as caught:
        registry.register("s", C)
    for word in ("READER_FIELD_MISSING_DEFAULT_VALUE", "oldSchemaVersion: 1", "BACKWARD"):
        assert word in caught.value.fact
    assert registry.register("t", C).id == 2


def test_what_is_no_schema_is_refused(registry: Registry) -> None:
    for text in ("", "no schema", '{"type":"nothing"}'):
        given = SchemaText(text)
        assert refused(partial(registry.register, "s", given)) == "SCHEMA_TEXT"
    wrong = Registration("{}", "XML")  # type: ignore[arg-type]  # as a client may send it
    assert refused(lambda: registry.register_as("s", wrong)) == "SCHEMA_TEXT"
    assert registry.subjects("all") == []


def test_what_is_not_there_is_said_to_be_missing(registry: Registry) -> None:
    registry.register("s", A)
    assert refused(lambda: registry.version("t")) == "SUBJECT_MISSING"
    assert refused(lambda: registry.versions("t")) == "SUBJECT_MISSING"
    assert refused(lambda: registry.lookup("t", A)) == "SUBJECT_MISSING"
    assert refused(lambda: registry.version("s", 7)) == "VERSION_MISSING"
    assert refused(lambda: registry.by_id(7)) == "SCHEMA_MISSING"
    assert refused(lambda: registry.all_with_guid("none")) == "SCHEMA_MISSING"
    assert refused(lambda: registry.lookup("s", C)) == "SCHEMA_MISSING"
    assert refused(lambda: registry.delete_version("t")) == "SUBJECT_MISSING"
    assert refused(lambda: registry.delete_version("s", 7)) == "VERSION_MISSING"
    assert refused(lambda: registry.delete_subject("t")) == "SUBJECT_MISSING"


def test_a_deleted_version_is_out_of_sight_and_its_id_still_reads(registry: Registry) -> None:
    registry.register("s", A)
    registry.register("s", AB)
    assert registry.delete_version("s") == 2
    assert [one.version for one in registry.versions("s")] == [1]
    assert [one.version for one in registry.versions("s", "all")] == [1, 2]
    assert [one.version for one in registry.versions("s", "deleted")] == [2]
    assert refused(lambda: registry.version("s", 2)) == "VERSION_MISSING"
    assert registry.version_of("s", 2, deleted=True).deleted
    assert registry.by_id(2).text
    assert refused(lambda: registry.delete_version("s", 2)) == "VERSION_DELETED"


def test_only_what_is_deleted_can_be_deleted_for_ever(registry: Registry) -> None:
    registry.register("s", A)
    registry.register("s", AB)
    assert refused(lambda: registry.delete_version("s", 2, permanent=True)) == "VERSION_NOT_DELETED"
    assert refused(lambda: registry.delete_subject("s", permanent=True)) == "SUBJECT_NOT_DELETED"
    assert registry.delete_subject("s") == [1, 2]
    assert refused(lambda: registry.delete_subject("s")) == "SUBJECT_DELETED"
    assert registry.delete_subject("s", permanent=True) == [1, 2]
    assert refused(lambda: registry.by_id(2)) == "SCHEMA_MISSING"
    assert registry.subjects("all") == []
    # Data may still hold the old ids: nothing else ever gets them.
    assert registry.register("s", A).id == 3


def test_a_subject_is_listed_as_deleted_when_all_its_versions_are(registry: Registry) -> None:
    registry.register("s", A)
    registry.register("t", A)
    registry.delete_version("t", 1)
    assert registry.subjects() == ["s"]
    assert registry.subjects("all") == ["s", "t"]
    assert registry.subjects("deleted") == ["t"]
    assert registry.subjects("all", prefix="t") == ["t"]
    assert [one.subject for one in registry.schemas("all")] == ["s", "t"]


def test_the_last_version_of_each_subject_is_told(registry: Registry) -> None:
    for subject, schema in [("s", A), ("s", AB), ("t", A)]:
        registry.register(subject, schema)
    latest = registry.schemas(latest_only=True)
    assert [(one.subject, one.version) for one in latest] == [("s", 2), ("t", 1)]


def test_references_are_read_with_what_they_name_and_keep_it_from_going(
    registry: Registry,
) -> None:
    registry.register("address", record("street", name="Address"))
    customer = {
        "type": "record",
        "name": "Customer",
        "fields": [{"name": "home", "type": "Address"}],
    }
    registered = registry.register("customer", naming(customer, ("Address", "address", 1)))
    assert registry.referring("address") == [registered.id]
    assert refused(lambda: registry.delete_version("address")) == "SCHEMA_REFERENCED"
    assert refused(lambda: registry.delete_subject("address")) == "SCHEMA_REFERENCED"
    assert '"name":"street"' in registry.formatted(registered, "resolved")
    # Somebody may send the same schema written out.
    whole = SchemaText(registry.formatted(registered, "resolved"))
    assert registry.lookup("customer", whole) == registered
    registry.delete_version("customer")
    assert registry.referring("address") == []
    registry.delete_version("address")
    # What is deleted cannot be named anew.
    again = naming({"type": "map", "values": "Address"}, ("Address", "address", 1))
    assert refused(lambda: registry.register("book", again)) == "SCHEMA_TEXT"


def test_a_reference_may_name_the_last_version_which_is_then_kept(registry: Registry) -> None:
    registry.register("address", record("street", name="Address"))
    book = registry.register(
        "book", naming({"type": "array", "items": "Address"}, ("Address", "address", -1))
    )
    assert book.schema.references[0].version == 1


def test_a_reference_to_nothing_is_refused(registry: Registry) -> None:
    schema = naming({"type": "array", "items": "Address"}, ("Address", "address", 1))
    assert refused(lambda: registry.register("s", schema)) == "SCHEMA_TEXT"
    assert registry.subjects("all") == []


def test_levels_are_set_for_all_or_for_a_subject(registry: Registry) -> None:
    assert registry.settings()["compatibilityLevel"] == "BACKWARD"
    assert refused(lambda: registry.settings("s")) == "LEVEL_NOT_SET"
    registry.set_level(None, "full")
    registry.set_level("s", "NONE")
    assert registry.settings("s") == {"compatibilityLevel": "NONE"}
    assert registry.settings("t", in_force=True)["compatibilityLevel"] == "FULL"
    registry.register("s", A)
    registry.register("s", C)
    assert registry.delete_settings("s") == {"compatibilityLevel": "NONE"}
    assert refused(lambda: registry.delete_settings("s")) == "SUBJECT_MISSING"
    assert refused(lambda: registry.set_level("s", "SIDEWAYS")) == "LEVEL_NAME"


def test_settings_go_with_the_last_version_of_their_subject(registry: Registry) -> None:
    registry.set_level("s", "FULL")
    registry.set_mode("s", "READWRITE")
    registry.register("s", A)
    registry.delete_version("s")
    assert refused(lambda: registry.settings("s")) == "LEVEL_NOT_SET"
    assert refused(lambda: registry.mode("s")) == "MODE_NOT_SET"


def test_modes_keep_writers_out(registry: Registry) -> None:
    registry.register("s", A)
    registry.set_mode(None, "readonly")
    assert refused(lambda: registry.register("s", AB)) == "NOT_PERMITTED"
    assert refused(lambda: registry.delete_subject("s")) == "NOT_PERMITTED"
    assert refused(lambda: registry.set_level("s", "FULL")) == "NOT_PERMITTED"
    # What is there already is found, not written.
    assert registry.register("s", A).version == 1
    registry.set_mode("s", "READWRITE")
    assert registry.register("s", AB).version == 2
    registry.set_mode(None, "READONLY_OVERRIDE")
    assert registry.mode("s") == "READONLY_OVERRIDE"
    assert refused(lambda: registry.register("s", record("a", c="x"))) == "NOT_PERMITTED"
    assert registry.delete_mode() == "READONLY_OVERRIDE"
    assert registry.delete_mode("s") == "READWRITE"
    assert refused(lambda: registry.delete_mode("s")) == "SUBJECT_MISSING"
    assert refused(lambda: registry.set_mode("s", "SIDEWAYS")) == "MODE_NAME"


def test_schemas_are_imported_with_their_ids(registry: Registry) -> None:
    registry.register("old", A)
    assert refused(lambda: registry.set_mode(None, "IMPORT")) == "NOT_PERMITTED"
    registry.delete_subject("old")
    registry.set_mode(None, "IMPORT")
    imported = registry.register_as("s", Registration(A.text, id=100, version=7))
    assert (imported.id, imported.version) == (100, 7)
    assert registry.register_as("s", Registration(A.text, id=100, version=7)) == imported
    other = Registration(C.text, id=100, version=8)
    assert refused(lambda: registry.register_as("s", other)) == "NOT_PERMITTED"
    moved = Registration(A.text, id=101, version=7)
    assert refused(lambda: registry.register_as("s", moved)) == "SCHEMA_ID_TAKEN"
    assert refused(lambda: registry.register("t", C)) == "NOT_PERMITTED"
    registry.set_mode(None, "READWRITE")
    assert registry.register("t", C).id == 101
    given = Registration(AB.text, id=5)
    assert refused(lambda: registry.register_as("t", given)) == "NOT_PERMITTED"


def test_contexts_count_their_ids_themselves(registry: Registry) -> None:
    registry.register("s", A)
    inside = registry.register(":.lab:s", C)
    assert inside.id == 1
    assert registry.contexts() == [".", ".lab"]
    assert registry.registered_with_id(1, subject=":.lab:").schema == inside.schema
    assert registry.by_id(1) != inside.schema
    assert registry.subjects(prefix="") == ["s"]
    assert registry.subjects(prefix=":.lab:") == [":.lab:s"]
    assert registry.subjects() == [":.lab:s", "s"]
    registry.set_level(":.lab:", "NONE")
    assert registry.register(":.lab:s", A).version == 2


def test_metadata_is_kept_handed_on_and_looked_for(registry: Registry) -> None:
    owner = {"properties": {"owner": "ann"}}
    first = registry.register_as("s", Registration(A.text, metadata=owner))
    assert registry.register("s", A) == first
    assert registry.register("s", AB).metadata == owner
    assert registry.with_metadata("s", {"owner": "ann"}).version == 2
    asked = partial(registry.with_metadata, "s", {"owner": "bob"})
    assert refused(asked) == "SCHEMA_MISSING"
    other = registry.register_as("s", Registration(A.text, metadata={"properties": {"o": "b"}}))
    assert other.id != first.id
    assert other.guid != first.guid


def test_a_version_asked_for_by_its_number_must_be_the_next_one(registry: Registry) -> None:
    registry.register("s", A)
    wrong = Registration(AB.text, version=5)
    assert refused(lambda: registry.register_as("s", wrong)) == "SCHEMA_TEXT"
    second = registry.register_as("s", Registration(A.text, version=2))
    assert (second.version, second.id) == (2, 2)
    assert second.metadata == {"properties": {"confluent:version": "2"}}


def test_rules_without_a_name_or_of_no_kind_are_refused(registry: Registry) -> None:
    for rules in (
        {"domainRules": [{"name": ""}]},
        {"domainRules": [{"name": "a"}, {"name": "a"}]},
        {"migrationRules": [{"name": "a", "kind": "GUESS"}]},
        {"migrationRules": [{"name": "a", "mode": "SOMETIMES"}]},
        {"migrationRules": "a"},
    ):
        wanted = Registration(A.text, rules=rules)
        assert refused(partial(registry.register_as, "s", wanted)) == "RULES_FORM"
    rules = {"domainRules": [{"name": "a", "kind": "CONDITION", "mode": "WRITE", "type": "CEL"}]}
    assert registry.register_as("s", Registration(A.text, rules=rules)).rules == rules


def test_only_versions_of_the_same_group_are_compared(registry: Registry) -> None:
    registry.set_settings(None, {"compatibilityGroup": "major"})
    registry.register_as("s", Registration(A.text, metadata={"properties": {"major": "1"}}))
    same = Registration(C.text, metadata={"properties": {"major": "1"}})
    assert refused(lambda: registry.register_as("s", same)) == "SCHEMA_INCOMPATIBLE"
    next_one = Registration(C.text, metadata={"properties": {"major": "2"}})
    assert registry.register_as("s", next_one).version == 2


def test_settings_complete_the_metadata_of_what_is_registered(registry: Registry) -> None:
    registry.set_settings(
        "s",
        {
            "defaultMetadata": {"properties": {"team": "x", "level": "1"}},
            "overrideMetadata": {"properties": {"level": "9"}},
            "overrideRuleSet": {"domainRules": [{"name": "r", "type": "CEL"}]},
        },
    )
    one = registry.register("s", A)
    assert one.metadata == {"properties": {"team": "x", "level": "9"}}
    assert one.rules == {"domainRules": [{"name": "r", "type": "CEL"}]}
    assert registry.register("s", A) == one


@pytest.mark.parametrize("subject", ["", "a\nb", "__GLOBAL", ":.lab:"])
def test_a_subject_without_a_proper_name_is_refused(registry: Registry, subject: str) -> None:
    assert refused(lambda: registry.register(subject, A)) == "SUBJECT_NAME"


def test_a_schema_is_compared_with_one_version_or_as_registering_would(
    registry: Registry,
) -> None:
    registry.set_level("s", "NONE")
    for schema in (record("a", "b"), record("a")):
        registry.register("s", schema)
    registry.set_level("s", "FORWARD_TRANSITIVE")
    new = Registration(record("a", "c").text)
    assert registry.objections("s", new, against=[registry.version("s")]) == ()
    assert registry.objections("s", new)
    assert registry.objections("unheard", new) == ()


def test_other_languages_are_registered_and_kept_apart(registry: Registry) -> None:
    json_schema = SchemaText('{"type": "object", "title": "Order"}', "JSON")
    protobuf = SchemaText('syntax = "proto3"; message Order { string a = 1; }', "PROTOBUF")
    registry.register("s", A)
    assert refused(lambda: registry.register("s", json_schema)) == "SCHEMA_INCOMPATIBLE"
    registry.set_level("s", "NONE")
    assert registry.register("s", json_schema).schema.type == "JSON"
    assert registry.register("s", protobuf).version == 3
    assert registry.register("p", protobuf).id == 3
