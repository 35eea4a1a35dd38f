"""The real clients of Confluent against our registry; both sides read what the other writes."""

from __future__ import annotations

import json
import threading
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry import (
    Schema,
    SchemaReference,
    SchemaRegistryError,
    record_subject_name_strategy,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from penstock.log.rows import binary_array
from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from tests.serve.kit import Served

ORDERS = SerializationContext("orders", MessageField.VALUE)
SUBJECT = "orders-value"

AVRO = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "namespace": "shop",
        "fields": [
            {"name": "item", "type": "string"},
            {"name": "count", "type": ["null", "long"], "default": None},
        ],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Order",
        "type": "object",
        "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["item"],
    }
)
ROWS = [{"item": "tea", "count": 3}, {"item": "jam", "count": 4}]


def message_class(name: str = "order.proto", package: str = "shop") -> Any:  # noqa: ANN401
    file = FileDescriptorProto(name=name, package=package, syntax="proto3")
    message = file.message_type.add(name="Order")
    optional = FieldDescriptorProto.LABEL_OPTIONAL
    string, number = FieldDescriptorProto.TYPE_STRING, FieldDescriptorProto.TYPE_INT64
    message.field.add(name="item", number=1, type=string, label=optional)
    message.field.add(name="count", number=2, type=number, label=optional)
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName(f"{package}.Order"))


def decoded(served: Served, form: str, values: list[bytes]) -> list[dict[str, Any]]:
    codec = codec_of(Format(form, subject=SUBJECT), None, served.registry)
    found = codec.decode(binary_array(values))
    assert not found.failures
    rows: list[dict[str, Any]] = found.rows.to_pylist()
    return rows


def encoded(served: Served, form: str) -> list[bytes]:
    codec = codec_of(Format(form, subject=SUBJECT), None, served.registry)
    rows = pa.table({"item": ["tea", "jam"], "count": pa.array([3, 4], pa.int64())})
    values: list[bytes] = codec.encode(rows).to_pylist()
    return values


def test_avro_goes_both_ways(served: Served) -> None:
    write = AvroSerializer(served.client, AVRO)
    values = [write(row, ORDERS) for row in ROWS]
    assert values[0][:5] == b"\x00\x00\x00\x00\x01"
    assert decoded(served, "avro", values) == ROWS
    read = AvroDeserializer(served.client)
    assert [read(value, ORDERS) for value in encoded(served, "avro")] == ROWS
    assert encoded(served, "avro") == values


def test_json_goes_both_ways(served: Served) -> None:
    write = JSONSerializer(JSON_SCHEMA, served.client)
    values = [write(row, ORDERS) for row in ROWS]
    assert decoded(served, "json_schema", values) == ROWS
    read = JSONDeserializer(JSON_SCHEMA, schema_registry_client=served.client)
    assert [read(value, ORDERS) for value in encoded(served, "json_schema")] == ROWS
    assert served.registry.version(SUBJECT).schema.type == "JSON"


def test_protobuf_goes_both_ways(served: Served) -> None:
    order = message_class()
    write = ProtobufSerializer(order, served.client)
    values = [write(order(**row), ORDERS) for row in ROWS]
    assert decoded(served, "protobuf", values) == ROWS
    read = ProtobufDeserializer(order, {}, served.client)
    read_back = [read(value, ORDERS) for value in encoded(served, "protobuf")]
    assert [{"item": one.item, "count": one.count} for one in read_back] == ROWS
    # Its text is kept, not the descriptor that the client sent.
    assert "message Order" in served.registry.version(SUBJECT).schema.text


def test_a_schema_that_evolves_is_read_by_old_and_new(served: Served) -> None:
    first = AvroSerializer(served.client, AVRO)(ROWS[0], ORDERS)
    wider = json.loads(AVRO)
    wider["fields"].append({"name": "note", "type": ["null", "string"], "default": None})
    second = AvroSerializer(served.client, json.dumps(wider))({**ROWS[1], "note": "n"}, ORDERS)
    assert second[:5] == b"\x00\x00\x00\x00\x02"
    read = AvroDeserializer(served.client, json.dumps(wider))
    assert read(first, ORDERS) == {**ROWS[0], "note": None}
    assert decoded(served, "avro", [first, second])[0]["note"] is None


def test_an_incompatible_producer_is_refused(served: Served) -> None:
    AvroSerializer(served.client, AVRO)(ROWS[0], ORDERS)
    other = [{"name": "x", "type": "int"}]
    narrower = json.dumps({"type": "record", "name": "shop.Order", "fields": other})
    with pytest.raises(SchemaRegistryError) as caught:
        AvroSerializer(served.client, narrower)({"x": 1}, ORDERS)
    assert (caught.value.http_status_code, caught.value.error_code) == (409, 40901)


def test_a_producer_that_must_not_register_uses_what_is_there(served: Served) -> None:
    told = {"auto.register.schemas": False}
    with pytest.raises(SchemaRegistryError) as caught:
        AvroSerializer(served.client, AVRO, conf=told)(ROWS[0], ORDERS)
    assert caught.value.error_code == 40401
    served.client.register_schema(SUBJECT, Schema(AVRO, "AVRO"))
    assert AvroSerializer(served.client, AVRO, conf=told)(ROWS[0], ORDERS)[4] == 1
    latest = {"auto.register.schemas": False, "use.latest.version": True}
    assert AvroSerializer(served.client, None, conf=latest)(ROWS[0], ORDERS)[4] == 1


def test_the_clients_naming_strategies_are_ours(served: Served) -> None:
    told = {"subject.name.strategy": record_subject_name_strategy}
    AvroSerializer(served.client, AVRO, conf=told)(ROWS[0], ORDERS)
    assert served.registry.subjects() == ["shop.Order"]


def test_references_of_the_client_are_followed(served: Served) -> None:
    street, home = {"name": "s", "type": "string"}, {"name": "a", "type": "shop.Address"}
    address = json.dumps({"type": "record", "name": "shop.Address", "fields": [street]})
    served.client.register_schema("address", Schema(address, "AVRO"))
    person = json.dumps({"type": "record", "name": "shop.Person", "fields": [home]})
    schema = Schema(person, "AVRO", [SchemaReference("shop.Address", "address", 1)])
    write = AvroSerializer(served.client, schema)
    value = write({"a": {"s": "x"}}, ORDERS)
    assert AvroDeserializer(served.client)(value, ORDERS) == {"a": {"s": "x"}}
    assert served.client.get_referenced_by("address", 1) == [2]
    with pytest.raises(SchemaRegistryError) as caught:
        served.client.delete_version("address", 1)
    assert caught.value.error_code == 42206


def test_protobuf_imports_are_registered_as_references(served: Served) -> None:
    pool = DescriptorPool()
    inner = FileDescriptorProto(name="inner.proto", package="shop", syntax="proto3")
    inner.message_type.add(name="Inner")
    outer = FileDescriptorProto(
        name="outer.proto", package="shop", syntax="proto3", dependency=["inner.proto"]
    )
    outer.message_type.add(name="Outer").field.add(
        name="inner",
        number=1,
        type=FieldDescriptorProto.TYPE_MESSAGE,
        type_name=".shop.Inner",
        label=FieldDescriptorProto.LABEL_OPTIONAL,
    )
    for file in (inner, outer):
        pool.Add(file)
    kind = GetMessageClass(pool.FindMessageTypeByName("shop.Outer"))
    value = ProtobufSerializer(kind, served.client)(kind(), ORDERS)
    served.client.clear_caches()  # type: ignore[no-untyped-call]  # not typed there
    assert ProtobufDeserializer(kind, {}, served.client)(value, ORDERS) == kind()
    (reference,) = served.registry.version(SUBJECT).schema.references
    assert (reference.name, reference.subject) == ("inner.proto", "inner.proto")


def test_many_clients_at_once_get_one_id_for_one_schema(served: Served) -> None:
    found: list[int] = []

    def register() -> None:
        found.append(served.client.register_schema(SUBJECT, Schema(AVRO, "AVRO")))

    threads = [threading.Thread(target=register) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 8
