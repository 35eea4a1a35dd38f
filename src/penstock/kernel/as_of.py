"""Being built."""

from __future__ import annotations

from penstock.model.join import Join


class AsOfOperator:
    """Being built."""

    def __init__(self, relation: Join, keep_late: int = 0) -> None:
        raise NotImplementedError
