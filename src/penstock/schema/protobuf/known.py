"""The files that every Protobuf schema may import without registering them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from penstock.schema.protobuf.build import file_of
from penstock.schema.protobuf.syntax import parse_proto

# What Confluent's clients take for granted and so never register.
_CONFLUENT: Mapping[str, str] = {
    "confluent/meta.proto": """
        syntax = "proto3";
        package confluent;
        import "google/protobuf/descriptor.proto";
        message Meta {
          string doc = 1;
          map<string, string> params = 2;
          repeated string tags = 3;
          repeated Rule rules = 4;
        }
        message Rule { string name = 1; string doc = 2; string expr = 3; string sql = 4; }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
    """,
    "confluent/type/decimal.proto": """
        syntax = "proto3";
        package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
    """,
    "confluent/types/decimal.proto": """
        syntax = "proto3";
        import public "confluent/type/decimal.proto";
    """,
}
_GOOGLE = ("google/protobuf/", "google/type/")


def known_file(name: str) -> FileDescriptorProto | None:
    """Give a well-known file by the name it is imported by; none if it is not one."""
    if name in _CONFLUENT:
        return file_of(parse_proto(_CONFLUENT[name]), name)
    if not name.startswith(_GOOGLE) or not name.endswith(".proto"):
        return None
    module = name.removesuffix(".proto").replace("/", ".") + "_pb2"
    try:
        found = import_module(module)
    except ImportError:
        return None
    return FileDescriptorProto.FromString(found.DESCRIPTOR.serialized_pb)
