from __future__ import annotations

import pickle
from typing import Any

import pytest

from penstock import streams as ks
from penstock.errors import SchemaError

STRING = ks.Serdes.string()


@pytest.mark.parametrize(
    ("serde", "value", "content"),
    [
        (ks.Serdes.string(), "größe", "größe".encode()),
        (ks.Serdes.long(), 3, bytes(7) + b"\x03"),
        (ks.Serdes.long(), -1, b"\xff" * 8),
        (ks.Serdes.integer(), 258, b"\x00\x00\x01\x02"),
        (ks.Serdes.int(), 258, b"\x00\x00\x01\x02"),
        (ks.Serdes.double(), 1.5, b"\x3f\xf8" + bytes(6)),
        (ks.Serdes.bytes(), b"\x00x", b"\x00x"),
        (ks.Serdes.json(), {"b": [1, None], "a": "ä"}, '{"a":"ä","b":[1,null]}'.encode()),
        (
            ks.Serdes.windowed(STRING),
            ks.Windowed("k", 1, 2),
            b"k" + bytes(7) + b"\x01" + bytes(7) + b"\x02",
        ),
    ],
)
def test_a_value_becomes_the_bytes_of_kafka_and_comes_back(
    serde: ks.Serde, value: object, content: bytes
) -> None:
    travelled: ks.Serde = pickle.loads(pickle.dumps(serde))
    assert travelled.serialize(value) == content
    assert travelled.deserialize(content) == value


def test_none_is_none_both_ways() -> None:
    assert STRING.serialize(None) is None
    assert STRING.deserialize(None) is None


@pytest.mark.parametrize(
    ("serde", "value"),
    [
        (STRING, 5),
        (ks.Serdes.long(), "5"),
        (ks.Serdes.long(), 1.5),
        (ks.Serdes.integer(), 2**31),
        (ks.Serdes.bytes(), "text"),
        (ks.Serdes.json(), object()),
        (ks.Serdes.windowed(STRING), "key"),
    ],
)
def test_a_value_that_does_not_fit_is_named(serde: ks.Serde, value: Any) -> None:  # noqa: ANN401
    with pytest.raises(SchemaError, match="SERDE_VALUE") as caught:
        serde.serialize(value)
    assert str(serde) in caught.value.fact


@pytest.mark.parametrize(
    ("serde", "content"),
    [
        (STRING, b"\xff"),
        (ks.Serdes.long(), b"\x01"),
        (ks.Serdes.json(), b"{"),
        (STRING, {"a": 1}),
    ],
)
def test_bytes_that_do_not_fit_are_named(serde: ks.Serde, content: object) -> None:
    with pytest.raises(SchemaError, match="SERDE_BYTES"):
        serde.deserialize(content)
