"""Pairs of two sides: as many as there can be, none used twice."""

from __future__ import annotations

from collections.abc import Iterable


def largest_matching(count: int, edges: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Give for each left side its right side, by augmenting paths."""
    reach: dict[int, list[int]] = {}
    for left, right in edges:
        reach.setdefault(left, []).append(right)
    owner: dict[int, int] = {}

    def placed(left: int, tried: set[int]) -> bool:
        for right in reach.get(left, []):
            if right not in tried:
                tried.add(right)
                if right not in owner or placed(owner[right], tried):
                    owner[right] = left
                    return True
        return False

    for left in range(count):
        placed(left, set())
    return {left: right for right, left in owner.items()}
