"""Being built."""

from __future__ import annotations

from penstock.model.process import Process


class ProcessOperator:
    """Being built."""

    def __init__(self, relation: Process, keep_late: int = 0) -> None:
        raise NotImplementedError
