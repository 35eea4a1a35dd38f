from __future__ import annotations

from pathlib import Path

from penstock.testing.faults import flip_bit, truncate_file


def test_a_flipped_bit_changes_one_byte_and_flips_back(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    flip_bit(file, position=1, bit=3)
    assert file.read_bytes() == b"ajc"
    flip_bit(file, position=1, bit=3)
    assert file.read_bytes() == b"abc"


def test_a_cut_file_keeps_its_beginning(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    truncate_file(file, size=2)
    assert file.read_bytes() == b"ab"
