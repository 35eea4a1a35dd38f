from __future__ import annotations

import pytest

from penstock.errors import RegistryError
from penstock.schema.codec.schemas import SchemaText
from penstock.schema.registry.naming import strategy_named, subject_name
from penstock.schema.registry.record_name import record_names


def test_the_three_strategies_name_subjects_as_confluents_clients_do() -> None:
    assert subject_name("topic", "orders") == "orders-value"
    assert subject_name("topic", "orders", part="key") == "orders-key"
    assert subject_name("record", "orders", record="shop.Order") == "shop.Order"
    assert subject_name("topic-record", "orders", record="shop.Order") == "orders-shop.Order"


def test_a_schema_without_a_name_has_no_subject_by_record() -> None:
    with pytest.raises(RegistryError, match="SUBJECT_RECORD"):
        subject_name("record", "orders")


def test_a_misspelt_strategy_is_corrected() -> None:
    with pytest.raises(RegistryError, match="NAMING_STRATEGY") as caught:
        strategy_named("topc")
    assert caught.value.hint == 'Did you mean "topic"?'


RECORD = '{"type":"record","name":"Order","namespace":"shop","fields":[]}'
PROTO = 'syntax = "proto3";\npackage shop;\n\nmessage Order {\n}\nmessage Item {\n}\n'


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        (SchemaText(RECORD), {"shop.Order"}),
        (SchemaText('{"type":"record","name":"shop.Order","fields":[]}'), {"shop.Order"}),
        (SchemaText('"string"'), set()),
        (SchemaText('{"type":"array","items":"int"}'), set()),
        (SchemaText('{"title":"Order"}', "JSON"), {"Order"}),
        (SchemaText("true", "JSON"), set()),
        (SchemaText(PROTO, "PROTOBUF"), {"shop.Order", "shop.Item"}),
    ],
)
def test_the_names_of_records_are_found_in_every_language(
    schema: SchemaText, names: set[str]
) -> None:
    assert record_names(schema) == names
