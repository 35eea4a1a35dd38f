"""Protobuf as a language of the registry."""

from __future__ import annotations

import base64

from typing_extensions import override

from penstock.schema.codec.schemas import SchemaType
from penstock.schema.language import Language, SchemaSource
from penstock.schema.protobuf.compatibility import breaking_changes
from penstock.schema.protobuf.file import protobuf_file
from penstock.schema.protobuf.printer import Style, proto_text


class ProtobufLanguage(Language):
    """Knows .proto texts and serialized file descriptors, and keeps both as the same text."""

    @property
    @override
    def type(self) -> SchemaType:
        return "PROTOBUF"

    @override
    def canonical(self, source: SchemaSource) -> str:
        return proto_text(protobuf_file(source).proto)

    @override
    def normalized(self, source: SchemaSource) -> str:
        return proto_text(protobuf_file(source).proto, Style(ordered=True))

    @override
    def formatted(self, source: SchemaSource, form: str) -> str:
        if form == "serialized":
            serialized = protobuf_file(source).descriptor.serialized_pb
            return base64.b64encode(serialized).decode()
        if form == "ignore_extensions":
            return proto_text(protobuf_file(source).proto, Style(extensions=False))
        return self.canonical(source)

    @override
    def incompatibilities(self, reader: SchemaSource, writer: SchemaSource) -> tuple[str, ...]:
        return breaking_changes(protobuf_file(writer), protobuf_file(reader))


PROTOBUF = ProtobufLanguage()
