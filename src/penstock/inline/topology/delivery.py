"""A tuple as a task receives it, with its edges in the trees it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.model.topology_work import Output, Tuple


class Delivery(Tuple):
    """One copy of a tuple for one task: the id it has in each tree, and what it gave rise to."""

    __slots__ = ("edges", "settled", "spawned")

    def __init__(
        self,
        values: Sequence[object],
        output: Output,
        *,
        source: str,
        source_task: int,
        edges: Mapping[int, int],
    ) -> None:
        super().__init__(values, output, source=source, source_task=source_task)
        self.edges = edges
        self.spawned = 0
        self.settled = False
