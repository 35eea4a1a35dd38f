"""MurmurHash3 with 128 bits, of which the first 64 are used: how older Storm hashed a key."""

from __future__ import annotations

import struct

_MASK = (1 << 64) - 1
_FIRST = 0x87C37B91114253D5
_SECOND = 0x4CF5AD432745937F


def murmur3_long(data: bytes, seed: int) -> int:
    """Give the first half of the hash of bytes, as a signed number."""
    one = two = seed
    whole = len(data) // 16 * 16
    for start in range(0, whole, 16):
        low, high = struct.unpack_from("<QQ", data, start)
        one ^= _mixed(low, _FIRST, 31, _SECOND)
        one = (_rotated(one, 27) + two) * 5 + 0x52DCE729 & _MASK
        two ^= _mixed(high, _SECOND, 33, _FIRST)
        two = (_rotated(two, 31) + one) * 5 + 0x38495AB5 & _MASK
    low, high = struct.unpack("<QQ", data[whole:].ljust(16, b"\0"))
    one ^= _mixed(low, _FIRST, 31, _SECOND) ^ len(data)
    two ^= _mixed(high, _SECOND, 33, _FIRST) ^ len(data)
    one = one + two & _MASK
    two = two + one & _MASK
    total = _finished(one) + _finished(two) & _MASK
    return total - (1 << 64) if total >> 63 else total


def _mixed(word: int, first: int, turn: int, second: int) -> int:
    return _rotated(word * first & _MASK, turn) * second & _MASK


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _finished(value: int) -> int:
    value = (value ^ value >> 33) * 0xFF51AFD7ED558CCD & _MASK
    value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53 & _MASK
    return value ^ value >> 33
