from __future__ import annotations

import random
import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import ChannelError, RecordError
from penstock.log.channel.frame import (
    ACK_BYTES,
    MAX_FRAME_BYTES,
    RECORD,
    SYNC,
    SYNC_FRAME,
    TOKEN_BYTES,
    Ack,
    FrameSplitter,
    Gap,
    decode_gap,
    decode_hello,
    decode_last_ack,
    decode_record,
    encode_ack,
    encode_gap,
    encode_hello,
    encode_record,
)
from penstock.log.record import Headers, Value

some_bytes = st.none() | st.binary(max_size=40)
some_headers = st.lists(st.tuples(st.text(max_size=8), some_bytes), max_size=4).map(tuple)
some_record = st.tuples(st.integers(-(2**63), 2**63 - 1), some_bytes, some_bytes, some_headers)


@given(st.lists(some_record, max_size=6), st.integers(0, 2**32))
def test_records_survive_any_cutting_of_the_stream(
    records: list[tuple[int, bytes | None, bytes | None, Headers]], seed: int
) -> None:
    stream = b"".join(encode_record(*record) for record in records)
    splitter, cuts = FrameSplitter(), random.Random(seed)
    received, position = [], 0
    while position < len(stream):
        step = cuts.randint(1, 50)
        for kind, data, start, end in splitter.frames(stream[position : position + step]):
            assert kind == RECORD
            received.append(decode_record(data, start, end))
        position += step
    assert received == records


@pytest.mark.parametrize("value", [{"a": 1}, {}, "text", "", 7, memoryview(b"12345678").cast("i")])
def test_a_value_that_is_not_bytes_is_refused(value: Value) -> None:
    with pytest.raises(RecordError, match="CHANNEL_VALUE"):
        encode_record(0, None, value, ())


def test_a_timestamp_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(RecordError, match="CHANNEL_VALUE"):
        encode_record(2**63, None, b"", ())


def test_a_record_above_the_limit_is_refused_and_one_at_the_limit_is_not() -> None:
    overhead = len(encode_record(0, None, b"", ()))
    assert len(encode_record(0, None, bytes(MAX_FRAME_BYTES - overhead), ())) == MAX_FRAME_BYTES
    with pytest.raises(RecordError, match="CHANNEL_RECORD_SIZE"):
        encode_record(0, None, bytes(MAX_FRAME_BYTES - overhead + 1), ())


def test_the_largest_record_passes_the_splitter() -> None:
    overhead = len(encode_record(0, None, b"", ()))
    frame = encode_record(0, None, bytes(MAX_FRAME_BYTES - overhead), ())
    splitter = FrameSplitter()
    chunks = [frame[at : at + 262_144] for at in range(0, len(frame), 262_144)]
    frames = [found for chunk in chunks for found in splitter.frames(chunk)]
    assert [(kind, end - start) for kind, _, start, end in frames] == [(RECORD, len(frame) - 5)]


@pytest.mark.parametrize("length", [0, MAX_FRAME_BYTES, 2**32 - 1])
def test_a_length_no_frame_has_is_refused(length: int) -> None:
    with pytest.raises(ChannelError, match="CHANNEL_FRAME"):
        list(FrameSplitter().frames(struct.pack(">IB", length, RECORD)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        struct.pack(">qii", 0, 5, 5) + b"short",
        struct.pack(">qii", 0, -1, -1) + b"\0",
        struct.pack(">qii", 0, -1, -1) + struct.pack(">HH", 1, 9) + b"x",
        struct.pack(">qii", 0, -1, -1) + struct.pack(">HH", 1, 1) + b"\xff" + struct.pack(">i", -1),
        struct.pack(">qii", 0, -1, -1) + struct.pack(">HH", 1, 1) + b"n" + struct.pack(">i", 9),
        struct.pack(">qii", 0, -1, -1) + struct.pack(">H", 0) + b"more",
    ],
)
def test_a_record_whose_lengths_contradict_each_other_is_refused(body: bytes) -> None:
    with pytest.raises(ChannelError, match="CHANNEL_FRAME"):
        decode_record(body, 0, len(body))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_a_coded_error(body: bytes) -> None:
    with suppress(ChannelError):
        parts = decode_record(body, 0, len(body))
        again = encode_record(*parts)
        assert decode_record(again, 5, len(again)) == parts


def test_gaps_syncs_and_records_share_one_stream() -> None:
    record = encode_record(1, b"k", b"v", ())
    stream = encode_gap(Gap(3, 4)) + record + SYNC_FRAME
    frames = list(FrameSplitter().frames(stream))
    assert [frame[0] for frame in frames] == [3, RECORD, SYNC]
    assert decode_gap(*frames[0][1:]) == Gap(3, 4)


def test_a_gap_of_another_length_is_refused() -> None:
    with pytest.raises(ChannelError, match="CHANNEL_FRAME"):
        decode_gap(b"12345", 0, 5)


def test_the_last_of_several_acknowledgements_counts_and_a_part_is_kept() -> None:
    data = bytearray(encode_ack(Ack(1, 2, 3)) + encode_ack(Ack(4, 5, 6)) + b"part")
    assert decode_last_ack(data) == Ack(4, 5, 6)
    assert data == b"part"
    assert decode_last_ack(data) is None


def test_bytes_that_are_no_acknowledgement_are_refused() -> None:
    with pytest.raises(ChannelError, match="CHANNEL_FRAME"):
        decode_last_ack(bytearray(ACK_BYTES))


def test_a_hello_gives_its_token() -> None:
    token = bytes(range(TOKEN_BYTES))
    assert decode_hello(encode_hello(token)) == token


def test_a_hello_of_another_protocol_is_refused() -> None:
    with pytest.raises(ChannelError, match="CHANNEL_HELLO"):
        decode_hello(b"GET / HTTP/1.1".ljust(38, b"\n"))


def test_a_hello_of_a_newer_version_is_refused() -> None:
    with pytest.raises(ChannelError, match="CHANNEL_VERSION"):
        decode_hello(b"PNCH" + struct.pack(">H", 2) + bytes(TOKEN_BYTES))
