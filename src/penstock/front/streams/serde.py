"""How keys and values become the bytes of a record, and what they are again afterwards."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from penstock.errors import SchemaError
from penstock.front.streams.record import Windowed

_LONG = struct.Struct(">q")
_INTEGER = struct.Struct(">i")
_DOUBLE = struct.Struct(">d")
_BOUNDS = struct.Struct(">qq")


@dataclass(frozen=True, slots=True)
class Serde:
    """Turns values into bytes and back; none is none both ways."""

    name: str
    write: Callable[[Any], bytes]
    read: Callable[[bytes], Any]

    def serialize(self, value: Any) -> bytes | None:  # noqa: ANN401
        """Give the bytes of a value."""
        if value is None:
            return None
        try:
            return self.write(value)
        except (AttributeError, TypeError, ValueError, struct.error) as error:
            raise SchemaError(
                "SERDE_VALUE",
                f"serde {self} is given {value!r:.100}, of type {type(value).__name__}",
                hint=f"Name the serde that fits, as in value_serde=Serdes.json() ({error}).",
            ) from error

    def deserialize(self, content: Any) -> Any:  # noqa: ANN401
        """Give the value of bytes; what is none is refused."""
        if content is None:
            return None
        try:
            return self.read(content)
        except (AttributeError, TypeError, ValueError, struct.error) as error:
            raise SchemaError(
                "SERDE_BYTES",
                f"serde {self} cannot read {content!r:.100}",
                hint=f"Read the topic with the serde it was written with ({error}).",
            ) from error

    @override
    def __str__(self) -> str:
        return self.name


class Serdes:
    """The serdes that come with Penstock; their bytes are those of Kafka's."""

    @staticmethod
    def string() -> Serde:
        """Text in UTF-8."""
        return Serde("string", _write_text, _read_text)

    @staticmethod
    def long() -> Serde:
        """Whole numbers in 8 bytes, the highest first."""
        return Serde("long", _write_long, _read_long)

    @staticmethod
    def integer() -> Serde:
        """Whole numbers in 4 bytes, the highest first."""
        return Serde("integer", _write_integer, _read_integer)

    int = integer

    @staticmethod
    def double() -> Serde:
        """Numbers with a fraction, in 8 bytes."""
        return Serde("double", _write_double, _read_double)

    @staticmethod
    def bytes() -> Serde:
        """Bytes as they are."""
        return Serde("bytes", _write_bytes, _read_bytes)

    @staticmethod
    def json() -> Serde:
        """Whatever JSON can say; the same value always has the same text, so it can be a key."""
        return Serde("json", _write_json, json.loads)

    @staticmethod
    def windowed(inner: Serde) -> Serde:
        """A key and its window: the bytes of the key, then start and end in 8 bytes each."""
        return Serde(f"windowed({inner})", _WriteWindowed(inner), _ReadWindowed(inner))


# Functions of the module, not lambdas: a serde travels to Spark's workers by pickle.
def _write_text(value: str) -> bytes:
    return value.encode()


def _read_text(content: bytes) -> str:
    return content.decode()


def _write_long(value: int) -> bytes:
    return _LONG.pack(value)


def _read_long(content: bytes) -> int:
    (value,) = _LONG.unpack(content)
    return int(value)


def _write_integer(value: int) -> bytes:
    return _INTEGER.pack(value)


def _read_integer(content: bytes) -> int:
    (value,) = _INTEGER.unpack(content)
    return int(value)


def _write_double(value: float) -> bytes:
    return _DOUBLE.pack(value)


def _read_double(content: bytes) -> float:
    (value,) = _DOUBLE.unpack(content)
    return float(value)


def _write_bytes(value: bytes) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        message = "bytes are wanted"
        raise TypeError(message)
    return bytes(value)


def _read_bytes(content: bytes) -> bytes:
    return content


def _write_json(value: Any) -> bytes:  # noqa: ANN401
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


@dataclass(frozen=True, slots=True)
class _WriteWindowed:
    inner: Serde

    def __call__(self, value: Windowed) -> bytes:
        return (self.inner.serialize(value.key) or b"") + _BOUNDS.pack(value.start, value.end)


@dataclass(frozen=True, slots=True)
class _ReadWindowed:
    inner: Serde

    def __call__(self, content: bytes) -> Windowed:
        start, end = _BOUNDS.unpack(content[-_BOUNDS.size :])
        return Windowed(self.inner.deserialize(content[: -_BOUNDS.size]), start, end)
