"""How the blocks of an Avro file are compressed, within bounds when they are read."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from penstock.errors import SchemaError
from penstock.schema.avro.binary import ByteReader

MOST_BLOCK = 64 * 1024 * 1024
"""So many bytes a block has at most, compressed or not."""

_CRC_SIZE = 4
_RAW_DEFLATE = -15


@dataclass(frozen=True, slots=True)
class Compression:
    """Both ways of a block's bytes."""

    compress: Callable[[bytes], bytes]
    expand: Callable[[bytes], bytes]


def compression(name: str) -> Compression:
    """Give a compression of Avro files by its name there."""
    if name not in _COMPRESSIONS:
        raise container_refused(
            f'the compression "{name}" has no name here', f"Use one of {', '.join(_COMPRESSIONS)}."
        )
    return _COMPRESSIONS[name]


def container_refused(fact: str, hint: str = "Fetch or write the file anew.") -> SchemaError:
    """Give the error for a file that is not as Avro files are."""
    return SchemaError("AVRO_CONTAINER", f"the Avro file cannot be read: {fact}", hint=hint)


def expanded(block: bytes, how: Compression) -> bytes:
    """Give a block as it was before it was compressed."""
    try:
        data = how.expand(block)
    except (ValueError, OSError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        raise container_refused(f"a block cannot be expanded ({error})") from None
    if len(data) > MOST_BLOCK:
        raise container_refused(f"a block has more than {MOST_BLOCK} bytes")
    return data


def _deflated(data: bytes) -> bytes:
    work = zlib.compressobj(wbits=_RAW_DEFLATE)
    return work.compress(data) + work.flush()


def _inflated(data: bytes) -> bytes:
    work = zlib.decompressobj(wbits=_RAW_DEFLATE)
    found = work.decompress(data, MOST_BLOCK + 1)
    if not work.eof and len(found) <= MOST_BLOCK:
        raise container_refused("a block ends too early")
    return found


def _snapped(data: bytes) -> bytes:
    packed: bytes = pa.Codec("snappy").compress(data, asbytes=True)
    return packed + zlib.crc32(data).to_bytes(_CRC_SIZE, "big")


def _unsnapped(block: bytes) -> bytes:
    packed, crc = block[:-_CRC_SIZE], block[-_CRC_SIZE:]
    size = _snappy_size(packed)
    if size > MOST_BLOCK:
        raise container_refused(f"a block has more than {MOST_BLOCK} bytes")
    data: bytes = pa.Codec("snappy").decompress(packed, decompressed_size=size, asbytes=True)
    if zlib.crc32(data).to_bytes(_CRC_SIZE, "big") != crc:
        raise container_refused("the checksum of a block is wrong")
    return data


def _snappy_size(packed: bytes) -> int:
    """Read how many bytes come of a snappy block, which it begins with."""
    zigzag = ByteReader(packed[:10]).read_long()
    return (zigzag << 1) ^ (zigzag >> 63)


def _zstandard(data: bytes) -> bytes:
    packed: bytes = pa.Codec("zstd").compress(data, asbytes=True)
    return packed


def _unzstandard(block: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
        data: bytes = stream.read(MOST_BLOCK + 1)
    return data


_COMPRESSIONS = {
    "null": Compression(bytes, bytes),
    "deflate": Compression(_deflated, _inflated),
    "snappy": Compression(_snapped, _unsnapped),
    "zstandard": Compression(_zstandard, _unzstandard),
    "bzip2": Compression(
        bz2.compress, lambda block: bz2.BZ2Decompressor().decompress(block, MOST_BLOCK + 1)
    ),
    "xz": Compression(
        lzma.compress, lambda block: lzma.LZMADecompressor().decompress(block, MOST_BLOCK + 1)
    ),
}
