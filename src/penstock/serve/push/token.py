"""Resume tokens: the next offset of every place that is followed, short and opaque."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from hashlib import blake2b
from typing import NamedTuple, TypeAlias

from penstock.errors import RequestError

Positions: TypeAlias = tuple[int, ...]
"""The next offset of each place, in the order of the places."""

_FORM = b"\x01"
_IDENTITY = 6
_SEVEN_BITS, _MORE = 0x7F, 0x80
_LARGEST = 2**63


class Token(NamedTuple):
    """Where a subscriber goes on, and in what: another topic of the same name is another one."""

    identity: bytes
    positions: Positions


def identity_of(*parts: str) -> bytes:
    """Give what tells one thing that is followed from another."""
    return blake2b("\0".join(parts).encode(), digest_size=_IDENTITY).digest()


def token_text(identity: bytes, positions: Positions) -> bytes:
    """Write a token."""
    packed = _FORM + identity + b"".join(map(_packed, positions))
    return urlsafe_b64encode(packed).rstrip(b"=")


def row_tokens(
    identity: bytes, positions: Positions, place: int, offsets: tuple[int, ...]
) -> list[bytes]:
    """Write the tokens after each of some rows of one place."""
    first = _FORM + identity + b"".join(map(_packed, positions[:place]))
    last = b"".join(map(_packed, positions[place + 1 :]))
    return [urlsafe_b64encode(first + _packed(at) + last).rstrip(b"=") for at in offsets]


def read_token(text: str) -> Token:
    """Read a token; what is none is refused."""
    try:
        packed = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        found = _unpacked(packed[1 + _IDENTITY :])
    except (Base64Error, ValueError):
        found = None
    if found is None or packed[:1] != _FORM or len(packed) < 1 + _IDENTITY:
        raise RequestError(
            "LIVE_TOKEN",
            f'"{text[:60]}" is no resume token',
            hint="Give the id of an event as it came, or leave it out to begin anew.",
        )
    return Token(packed[1 : 1 + _IDENTITY], found)


def _packed(number: int) -> bytes:
    parts = bytearray()
    while number > _SEVEN_BITS:
        parts.append(number & _SEVEN_BITS | _MORE)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def _unpacked(data: bytes) -> Positions:
    found: list[int] = []
    number = shift = 0
    for byte in data:
        number |= (byte & _SEVEN_BITS) << shift
        shift += 7
        if not byte & _MORE:
            found.append(number)
            number = shift = 0
    if shift or any(number >= _LARGEST for number in found):
        raise ValueError
    return tuple(found)
