from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.log.storage import Storage


def test_an_absent_file_is_not_opened(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open("absent", write=True)


def test_a_file_in_an_absent_directory_is_not_created(storage: Storage) -> None:
    with pytest.raises(FileNotFoundError):
        storage.open("absent/file", create=True)
    with pytest.raises(FileNotFoundError):
        storage.replace("absent/file", b"")


def test_a_created_file_is_empty_and_an_existing_one_keeps_its_content(storage: Storage) -> None:
    assert storage.open("file", create=True).size() == 0
    storage.open("file", write=True).write_at(0, [b"abc"])
    assert storage.open("file", create=True).read_at(0, 9) == b"abc"


def test_parts_are_written_one_after_another(storage: Storage) -> None:
    file = storage.open("file", create=True)
    numbers = np.arange(3, dtype="<u4")
    file.write_at(2, [b"ab", bytearray(b"c"), memoryview(b"xdx")[1:2], b"", numbers.data])
    assert file.read_at(0, 99) == b"\0\0abcd" + numbers.tobytes()


def test_a_write_of_thousands_of_parts_is_whole(storage: Storage) -> None:
    file = storage.open("file", create=True)
    parts = [b"%05d" % number for number in range(5000)]
    file.write_at(0, parts)
    assert file.read_at(0, 30_000) == b"".join(parts)


def test_a_read_past_the_end_gives_what_is_there(storage: Storage) -> None:
    file = storage.open("file", create=True)
    file.write_at(0, [b"0123456789"])
    assert file.read_at(8, 100) == b"89"
    assert file.read_at(10, 100) == b""
    assert file.read_at(99, 1) == b""
    assert file.read_at(3, 0) == b""


def test_a_hole_reads_as_zeros(storage: Storage) -> None:
    file = storage.open("file", create=True)
    file.write_at(100_000, [b"end"])
    assert file.read_at(99_998, 99) == b"\0\0end"
    assert file.read_at(0, 100_000) == bytes(100_000)


def test_a_cut_file_forgets_what_was_cut(storage: Storage) -> None:
    file = storage.open("file", create=True)
    file.write_at(0, [b"x" * 50_000])
    file.truncate(40_000)
    assert file.size() == 40_000
    file.truncate(50_000)
    assert file.read_at(39_999, 99_999) == b"x" + bytes(10_000)


def test_a_file_opened_for_reading_refuses_to_be_written(storage: Storage) -> None:
    storage.replace("file", b"abc")
    file = storage.open("file")
    with pytest.raises(OSError, match=r"file descriptor|argument"):
        file.write_at(0, [b"x"])
    with pytest.raises(OSError, match=r"file descriptor|argument"):
        file.truncate(0)
    assert storage.read("file") == b"abc"


def test_a_closed_file_refuses_to_be_used(storage: Storage) -> None:
    file = storage.open("file", create=True)
    file.close()
    file.close()
    with pytest.raises(OSError, match="file descriptor"):
        file.read_at(0, 1)
    with pytest.raises(OSError, match="file descriptor"):
        file.write_at(0, [b"x"])
    with pytest.raises(OSError, match="file descriptor"):
        file.sync()


def test_what_was_synced_is_there(storage: Storage) -> None:
    file = storage.open("file", create=True)
    file.write_at(0, [b"abc"])
    file.sync()
    storage.sync_directory("")
    assert storage.read("file") == b"abc"


def test_two_open_files_see_each_others_writes(storage: Storage) -> None:
    one, two = storage.open("file", create=True), storage.open("file")
    one.write_at(0, [b"abc"])
    assert (two.size(), two.read_at(1, 9)) == (3, b"bc")


def test_a_file_removed_while_open_stays_readable(storage: Storage) -> None:
    storage.replace("file", b"abc")
    file = storage.open("file")
    storage.remove("file")
    assert file.read_at(0, 9) == b"abc"


def test_a_file_replaced_while_open_keeps_its_old_content(storage: Storage) -> None:
    storage.replace("file", b"old")
    file = storage.open("file")
    storage.replace("file", b"new", sync=True)
    assert (file.read_at(0, 9), storage.read("file")) == (b"old", b"new")


Step = tuple[str, int, int]
_POSITIONS = st.integers(0, 70_000)
_STEPS: st.SearchStrategy[Step] = st.one_of(
    st.tuples(st.just("write"), _POSITIONS, st.integers(0, 40_000)),
    st.tuples(st.just("cut"), _POSITIONS, st.just(0)),
    st.tuples(st.just("read"), _POSITIONS, st.integers(0, 40_000)),
)


@settings(
    max_examples=20,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=st.lists(_STEPS, max_size=8))
def test_a_file_behaves_like_an_array_of_bytes(storage: Storage, steps: list[Step]) -> None:
    model = bytearray()
    storage.replace("file", b"")
    file = storage.open("file", write=True)
    for number, (act, position, length) in enumerate(steps, start=1):
        if act == "write" and length:
            model.extend(bytes(max(position - len(model), 0)))
            model[position : position + length] = bytes([number]) * length
            file.write_at(position, [bytes([number]) * length])
        elif act == "cut":
            del model[position:]
            model.extend(bytes(position - len(model)))
            file.truncate(position)
        else:
            assert file.read_at(position, length) == model[position : position + length]
    assert file.size() == len(model)
    assert file.read_at(0, len(model) + 1) == model
