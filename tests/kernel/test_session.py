from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.locate import Spot
from penstock.kernel.session import highest_so_far, merge_sessions

Window = tuple[int, int, int]

intervals = st.lists(
    st.tuples(st.integers(0, 3), st.integers(-30, 60), st.integers(0, 12)).map(
        lambda item: (item[0], item[1], item[1] + item[2])
    ),
    max_size=25,
)


def merged(
    windows: list[Window], *, touching: bool = True, max_size: int | None = None
) -> list[Window]:
    """Give the session each window becomes part of."""
    array = np.array(windows, dtype=np.int64).reshape(-1, 3)
    spots = Spot(array[:, 0], array[:, 1], array[:, 2])
    found = merge_sessions(spots, touching=touching, max_size=max_size)
    all_ = found.windows
    return [(int(all_.key[i]), int(all_.start[i]), int(all_.end[i])) for i in found.into]


def walked(windows: list[Window], *, touching: bool, max_size: int | None = None) -> list[Window]:
    """The same, one window after the other."""
    sessions: list[list[int]] = []
    member: dict[int, int] = {}
    for index in sorted(range(len(windows)), key=lambda i: windows[i]):
        key, start, end = windows[index]
        last = sessions[-1] if sessions else None
        joins = last is not None and last[0] == key
        if joins and last is not None:
            joins = start <= last[2] if touching else start < last[2]
            if max_size is not None:
                joins = joins and max(last[2], end) - last[1] < max_size
        if joins and last is not None:
            last[2] = max(last[2], end)
        else:
            sessions.append([key, start, end])
        member[index] = len(sessions) - 1
    return [tuple(sessions[member[i]]) for i in range(len(windows))]  # type: ignore[misc]


def test_windows_that_touch_merge_if_so_wished() -> None:
    windows = [(0, 0, 10), (0, 10, 20), (0, 21, 30)]
    assert merged(windows) == [(0, 0, 20), (0, 0, 20), (0, 21, 30)]
    assert merged(windows, touching=False) == windows


def test_windows_of_different_keys_stay_apart() -> None:
    windows = [(1, 0, 10), (0, 5, 15)]
    assert merged(windows) == windows


def test_a_window_may_bring_two_sessions_together() -> None:
    assert set(merged([(0, 0, 10), (0, 18, 28), (0, 9, 19)])) == {(0, 0, 28)}


def test_a_window_without_length_only_joins_others() -> None:
    assert merged([(0, 0, 10), (0, 4, 4), (0, 30, 30)]) == [(0, 0, 10), (0, 0, 10), (0, 30, 30)]


def test_a_session_is_cut_before_it_is_as_long_as_allowed() -> None:
    minute = 60
    starts = [26, 86, 146, 186, 219, 259]
    windows = [(0, start, start + minute) for start in starts]
    assert set(merged(windows, max_size=3 * minute)) == {(0, 26, 146), (0, 146, 319)}


def test_a_window_longer_than_allowed_stands_alone() -> None:
    assert merged([(0, 0, 100), (0, 50, 60)], max_size=20) == [(0, 0, 100), (0, 50, 60)]


def test_nothing_merges_to_nothing() -> None:
    assert merged([]) == []


@given(intervals, st.booleans())
def test_sessions_are_those_of_a_walk_in_order_of_start(
    windows: list[Window], touching: bool
) -> None:
    if not touching:
        windows = [(key, start, max(end, start + 1)) for key, start, end in windows]
    assert merged(windows, touching=touching) == walked(windows, touching=touching)


@given(intervals, st.integers(1, 40))
def test_cut_sessions_are_those_of_a_walk_in_order_of_start(
    windows: list[Window], max_size: int
) -> None:
    windows = [(key, start, max(end, start + 1)) for key, start, end in windows]
    expected = walked(windows, touching=True, max_size=max_size)
    assert merged(windows, max_size=max_size) == expected


@given(intervals)
def test_far_times_merge_as_near_ones_do(windows: list[Window]) -> None:
    far = 2**61
    stretched = [(key, start * (far // 64), end * (far // 64)) for key, start, end in windows]
    expected = [(k, s * (far // 64), e * (far // 64)) for k, s, e in merged(windows)]
    assert merged(stretched) == expected


@pytest.mark.parametrize("scale", [1, 2**58])
def test_the_highest_so_far_begins_again_with_each_segment(scale: int) -> None:
    segment = np.array([0, 0, 0, 1, 1, 2], dtype=np.int64)
    values = np.array([1, 3, 2, -1, -5, 0], dtype=np.int64) * scale
    expected = np.array([1, 3, 3, -1, -1, 0]) * scale
    assert highest_so_far(segment, values).tolist() == expected.tolist()
