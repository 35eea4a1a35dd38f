"""Bytes and schemas of the real client: its messages are ours, and ours are its."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.schema_registry.schema_registry_client import SchemaRegistryClient
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf.message_factory import GetMessageClass
from typing_extensions import override

from penstock.schema.codec.codecs import codec_of
from penstock.schema.codec.format import Format
from penstock.schema.codec.schemas import Reference, SchemaText, SchemaType, Version
from penstock.schema.language import SchemaSource
from penstock.schema.protobuf.file import protobuf_file
from penstock.schema.protobuf.language import PROTOBUF
from tests.schema.protobuf.test_codec import FULL, ORDER, codec, table
from tests.schema.schemas_in_memory import SchemasInMemory

CONTEXT = SerializationContext("orders", MessageField.VALUE)


class SchemasOfClient(SchemasInMemory):
    """What the client registered, as our codecs ask for it."""

    def __init__(self, client: SchemaRegistryClient) -> None:
        super().__init__()
        self._client = client

    @override
    def by_id(self, id: int) -> SchemaText:
        return self._text(self._client.get_schema(id))

    @override
    def version(self, subject: str, version: int | None = None) -> Version:
        found = (
            self._client.get_latest_version(subject)
            if version is None
            else self._client.get_version(subject, version)
        )
        return Version(subject, found.version or 0, found.schema_id or 0, self._text(found.schema))

    @staticmethod
    def _text(found: Any) -> SchemaText:  # noqa: ANN401  # the client's own class
        type_: SchemaType = "PROTOBUF"
        references = [
            Reference(one.name, one.subject, one.version) for one in found.references or []
        ]
        return SchemaText(found.schema_str, type_, tuple(references))


@pytest.fixture
def client() -> SchemaRegistryClient:
    return SchemaRegistryClient.new_client({"url": "mock://"})


@pytest.mark.parametrize("name", ["Order", "Other", "Order.Line"])
def test_the_bytes_of_the_real_serializer_are_read(client: SchemaRegistryClient, name: str) -> None:
    made = GetMessageClass(protobuf_file(SchemaSource(ORDER)).message(name))
    own = codec(message=name)
    plain = own.encode(table(own, FULL if name == "Order" else {})).to_pylist()[0]
    theirs = ProtobufSerializer(made, client)(made.FromString(plain), CONTEXT)
    schemas = SchemasOfClient(client)
    subject = codec_of(
        Format("protobuf", subject="orders-value").with_options(message=name), None, schemas
    )
    found = subject.decode(pa.array([theirs], pa.binary()))
    assert found.failures == {}
    assert found.rows.equals(own.decode(pa.array([plain], pa.binary())).rows)
    # And the other way: equal bytes, and the real deserializer takes them.
    assert subject.encode(found.rows).to_pylist() == [theirs]
    read = ProtobufDeserializer(made, {}, client)(theirs, CONTEXT)
    assert read == made.FromString(plain)


def test_what_the_real_client_registers_is_kept_as_the_text_it_stands_for(
    client: SchemaRegistryClient,
) -> None:
    made = GetMessageClass(protobuf_file(SchemaSource(ORDER)).message())
    ProtobufSerializer(made, client)(made(), CONTEXT)
    registered = client.get_latest_version("orders-value").schema.schema_str
    assert registered is not None
    assert "{" not in registered
    assert PROTOBUF.canonical(SchemaSource(registered)) == PROTOBUF.canonical(SchemaSource(ORDER))


def test_references_of_the_real_client_are_followed(client: SchemaRegistryClient) -> None:
    address = 'syntax = "proto3"; package a; message Address { string city = 1; }'
    text = 'syntax = "proto3"; import "address.proto"; message M { a.Address to = 1; }'
    source = SchemaSource(text, (("address.proto", address),))
    made = GetMessageClass(protobuf_file(source).message())
    message = made()
    message.to.city = "x"
    theirs = ProtobufSerializer(made, client)(message, CONTEXT)
    subject = codec_of(Format("protobuf", subject="orders-value"), None, SchemasOfClient(client))
    assert subject.decode(pa.array([theirs], pa.binary())).rows.to_pylist() == [
        {"to": {"city": "x"}}
    ]
