from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import CorruptionError
from penstock.log.embedded import frame as frames
from penstock.log.embedded.frame import (
    ALIGNMENT,
    HEADER_SIZE,
    Frame,
    decode_header,
    encode_frame,
    encode_header,
    payload_is_intact,
)

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)


FRAMES = st.fixed_dictionaries(
    {
        "base_offset": INT64,
        "offset_span": st.integers(0, 2**31 - 1),
        "records": INT32,
        "min_timestamp": INT64,
        "max_timestamp": INT64,
        "appended_at": INT64,
        "writer_id": INT64,
        "epoch": INT32,
        "sequence": INT64,
    }
).map(lambda fields: Frame(**fields))


@given(FRAMES, st.binary(max_size=300))
def test_a_frame_comes_back_as_it_was_written(frame: Frame, payload: bytes) -> None:
    data = b"".join(map(bytes, encode_frame(frame, payload)))
    decoded = decode_header(data)
    assert decoded is not None
    assert len(data) == decoded.length == decoded.stored_length
    assert len(data) % ALIGNMENT == 0
    assert payload_is_intact(decoded, data[HEADER_SIZE:])
    assert data[HEADER_SIZE : HEADER_SIZE + len(payload)] == payload
    assert decoded[5:16] == frame[5:16]


def test_a_flip_of_any_bit_of_a_frame_is_noticed() -> None:
    data = bytearray(b"".join(map(bytes, encode_frame(Frame(records=1), b"rows of a batch"))))
    for bit in range(len(data) * 8):
        data[bit // 8] ^= 1 << bit % 8
        decoded = decode_header(data)
        assert decoded is None or not payload_is_intact(decoded, data[HEADER_SIZE:])
        data[bit // 8] ^= 1 << bit % 8


def test_a_frame_of_a_newer_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "VERSION", 2)
    newer = encode_header(Frame())
    monkeypatch.undo()
    with pytest.raises(CorruptionError, match="FRAME_VERSION"):
        decode_header(newer)
