"""Bytes as they must not be: cut, flipped, with lengths and numbers without end."""

from __future__ import annotations

from random import Random

_ODD = (0x00, 0x01, 0x02, 0x7F, 0x80, 0xFF)


def damaged(random: Random, data: bytes) -> bytes:
    """Give bytes with a few faults."""
    found = bytearray(data)
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        _damage(random, found)
    return bytes(found)


def _damage(random: Random, found: bytearray) -> None:
    at = random.randrange(len(found) + 1)
    match random.randrange(6):
        case 0 if at < len(found):
            found[at] = random.choice([*_ODD, random.randrange(256)])
        case 1:
            del found[at:]
        case 2:
            found[at:at] = random.randbytes(random.choice([1, 1, 3, 9]))
        case 3:
            found[at:at] = b"\xff" * random.choice([1, 4, 9]) + b"\x01"
        case 4:
            del found[at : at + 1]
        case _:
            found += random.randbytes(random.randrange(4))
