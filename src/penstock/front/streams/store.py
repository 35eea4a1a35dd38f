"""Tables that are asked by name while a program runs, and afterwards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from penstock.front.streams.node import Codec
from penstock.front.streams.record import Windowed


class Bytes(Protocol):
    """Where a store's bytes come from."""

    def rows(self) -> Mapping[bytes, bytes]:
        """Give the value of each key."""

    def get(self, key: bytes) -> bytes | None:
        """Give the value of a key."""


class Store:
    """The value of each key, of all instances of the application together."""

    def __init__(self, held: Bytes, codec: Codec) -> None:
        self._held = held
        self._codec = codec

    def get(self, key: Any) -> Any:  # noqa: ANN401
        """Give the value of a key, None where there is none; windows are asked by `Windowed`."""
        content = self._codec.keys.serialize(key)
        return None if content is None else self._read(self._held.get(content))

    def all(self) -> dict[Any, Any]:
        """Give all keys and their values."""
        return dict(self._pairs())

    def fetch(self, key: Any) -> dict[Windowed, Any]:  # noqa: ANN401
        """Give the windows of a key and their values, the earliest first."""
        pairs = (pair for pair in self._pairs() if isinstance(pair[0], Windowed))
        return dict(sorted((at, value) for at, value in pairs if at.key == key))

    def __len__(self) -> int:
        return len(self._held.rows())

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        for key, value in self._held.rows().items():
            yield self._codec.keys.deserialize(key), self._read(value)

    def _read(self, content: bytes | None) -> Any:  # noqa: ANN401
        return self._codec.values.deserialize(content)
