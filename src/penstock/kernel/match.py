"""Being built."""

from __future__ import annotations

from penstock.model.match import Match


class MatchOperator:
    """Being built."""

    def __init__(self, relation: Match, keep_late: int = 0) -> None:
        raise NotImplementedError
