"""A stream looks rows up in a table: as it is known on arrival, or as it was at their time.

By arrival rows are taken in the order in which the log took them, of those taken at once the
table's first. Where that order is not known, since an operator made the rows of one side or
the table is a changelog, the table's rows of a batch come first. Its updates alone give nothing.

By event time a left row meets the version valid at its time. Versions that come out of order
are put in their place. Left rows that wait are answered once the watermark is past them; those
behind it, by no more than is kept, at once. A row further behind is late, and so is a version
that ended that long ago. Where results are corrected, left rows are kept as long as versions.

A row with a null in its key, or without a time, meets nothing and does not wait. A left input
that takes rows back takes back what they were answered with, which is held for as long as they
are there.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.kernel.as_of_arrival import ArrivalLookUp
from penstock.kernel.as_of_time import TimeLookUp
from penstock.kernel.port import Frame, Joiner, State, Step, Time
from penstock.model.join import Join
from penstock.model.join_bound import AsOf


class AsOfOperator:
    """Joins each left row with the row that its key had in the table at the time."""

    def __init__(self, relation: Join, keep_late: int = 0) -> None:
        assert isinstance(relation.bound, AsOf)
        by_arrival = relation.bound.by == "arrival"
        self._machine: Joiner = (
            ArrivalLookUp(relation) if by_arrival else TimeLookUp(relation, keep_late)
        )

    @property
    def ports(self) -> tuple[tuple[str, ...], ...]:
        """The keys of the left rows and those of the table's."""
        return self._machine.ports

    def pack(self, rows: Frame, watermark: int, port: int) -> Frame:
        """Leave rows as they are: every version may be asked for."""
        return self._machine.pack(rows, watermark, port)

    def step(self, state: State, deltas: Sequence[Frame], time: Time) -> Step:
        """Take the rows of both inputs, then answer those that are due."""
        return self._machine.step(state, deltas, time)
