from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from penstock.errors import StorageError
from penstock.kernel.arrival import Skew
from penstock.kernel.port import Counts
from penstock.spark.batch import Batch, first_marks
from penstock.spark.frame_file import clear
from penstock.spark.packet import (
    Account,
    Packet,
    decode,
    encode,
    in_order,
    merged_candidates,
)
from penstock.spark.stage import Piece, Staged


@pytest.fixture
def packet() -> Packet:
    frame = pl.DataFrame({"k": ["a", None], "n": [1, 2], "list": [[1.5], []]})
    return Packet(
        origin=(1, 0, 3),
        parcels=(("agg-1", frame), ("out-x", frame.clear())),
        candidates={("scan-x", 0): 17, ("scan-x", 1): None},
        batch=Batch(100, 90, first_marks(90), ends=True),
        account=Account(
            {"agg-1": Counts(3, 2, 1)}, {"scan-x": Skew(3, 1, 2, 5)}, 120, (("agg-1", 3, 7, 99),)
        ),
        staged=Staged("job", 2, "/some/file", (Piece("out", 1, 0, 64),)),
    )


def test_a_packet_comes_back_as_it_was_sent(packet: Packet) -> None:
    found = decode(encode(packet))
    assert found.parcels[0][1].equals(packet.parcels[0][1])
    assert found.parcels[1][1].schema == packet.parcels[1][1].schema
    assert (found.origin, found.candidates) == (packet.origin, packet.candidates)
    assert (found.batch, found.account) == (packet.batch, packet.account)
    assert found.staged == packet.staged


def test_many_rows_travel_in_a_file_and_few_in_the_packet(packet: Packet, tmp_path: Path) -> None:
    many = replace(
        packet,
        parcels=(
            (
                "agg-1",
                pl.DataFrame({"n": range(20_000), "k": [f"the key {n}" for n in range(20_000)]}),
            ),
            *packet.parcels,
        ),
    )
    blob = encode(many, str(tmp_path))
    (file,) = tmp_path.iterdir()
    assert len(blob) < file.stat().st_size / 100
    found = decode(blob)
    # What is mapped outlives its file, as a state may that was made of it.
    clear(str(tmp_path))
    assert not list(tmp_path.iterdir())
    assert [target for target, _ in found.parcels] == [target for target, _ in many.parcels]
    for (_, one), (_, other) in zip(found.parcels, many.parcels, strict=True):
        assert one.equals(other)
        assert one.schema == other.schema
    assert (found.batch, found.account, found.staged) == (many.batch, many.account, many.staged)
    assert decode(encode(packet, str(tmp_path))).origin == packet.origin
    assert not list(tmp_path.iterdir())
    clear(str(tmp_path / "never made"))


def test_frames_that_cannot_be_written_are_an_error_with_a_code(tmp_path: Path) -> None:
    many = Packet((0, 0), parcels=(("agg-1", pl.DataFrame({"n": range(20_000)})),))
    (tmp_path / "frames").write_text("in the way")
    with pytest.raises(StorageError, match="STORAGE_FAILED"):
        encode(many, str(tmp_path / "frames"))


def test_packets_are_taken_in_the_order_of_their_senders() -> None:
    blobs = [encode(Packet(origin)) for origin in [(0, 10), (1, 0, 0), (0, 2), (0, 2, 0)]]
    found = [packet.origin for packet in in_order(blobs)]
    assert found == [(0, 2), (0, 2, 0), (0, 10), (1, 0, 0)]


def test_a_partition_claims_the_most_that_any_of_its_readers_heard() -> None:
    place, silent = ("scan", 0), ("scan", 1)
    packets = [Packet((0, n), candidates={place: said}) for n, said in enumerate([5, None, 9, 7])]
    packets.append(Packet((0, 9), candidates={silent: None}))
    assert merged_candidates(packets) == {place: 9, silent: None}
