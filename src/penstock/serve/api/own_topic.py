"""Topics that Penstock keeps for itself: who writes to them could bring in code."""

from __future__ import annotations

from starlette.requests import HTTPConnection

from penstock.serve.access.needs import require
from penstock.serve.access.role import Role

_OURS = "_"


def topic_role(name: str) -> Role:
    """Give the least role that may write to a topic: the catalog's functions are code."""
    return Role.ADMIN if name.startswith(_OURS) else Role.WRITER


def require_writable(connection: HTTPConnection, name: str) -> None:
    """Refuse who may not write to a topic."""
    require(connection, topic_role(name))
