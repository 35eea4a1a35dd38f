"""Who asks: the name and the role that the guard has found for a request."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.types import Scope

from penstock.serve.access.role import Role

_PLACE = "penstock.asker"


@dataclass(frozen=True, slots=True)
class Asker:
    """Somebody who asks, by the name of their token."""

    name: str
    role: Role


ANYBODY = Asker("anybody on this machine", Role.ADMIN)
"""Who asks a server that is for this machine only and has given out no token."""


def told_asker(scope: Scope, asker: Asker) -> None:
    """Write down who asks, for all that answers the request."""
    scope[_PLACE] = asker


def asker_of(connection: HTTPConnection) -> Asker | None:
    """Give who asks; none where the guard was not passed."""
    found = connection.scope.get(_PLACE)
    return found if isinstance(found, Asker) else None
