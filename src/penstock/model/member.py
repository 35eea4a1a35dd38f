"""The names of steps in a program that several statements share: each keeps its own."""

from __future__ import annotations

_MARK = "~"
"""No name of a job or of a query has it."""


def of_member(member: str, id_: str) -> str:
    """Give the id that a step of a statement has in a program it shares with others."""
    return f"{member}{_MARK}{id_}"


def member_of(id_: str) -> str:
    """Give the statement that a step belongs to; empty in a program of one statement."""
    member, mark, _ = id_.partition(_MARK)
    return member if mark else ""


def own_id(id_: str) -> str:
    """Give the id that a step has in the program of its statement alone."""
    _, mark, own = id_.partition(_MARK)
    return own if mark else id_
