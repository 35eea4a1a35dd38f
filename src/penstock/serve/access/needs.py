"""Routes say who may use them: `dependencies=[needs(Role.WRITER)]`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fastapi import Depends
from starlette.requests import HTTPConnection

from penstock.errors import RequestError
from penstock.serve.access.asker import Asker, asker_of
from penstock.serve.access.role import Role


@dataclass(frozen=True, slots=True)
class RoleNeeded:
    """Refuses who has not at least a role."""

    role: Role

    async def check(self, connection: HTTPConnection) -> None:
        """Refuse, or do nothing."""
        require(connection, self.role)


def needs(role: Role) -> Any:  # noqa: ANN401  # FastAPI gives its dependencies as Any, too
    """Give the dependency of a route that is for a role and those above it."""
    return Depends(RoleNeeded(role).check)


def require(connection: HTTPConnection, role: Role) -> Asker:
    """Give who asks, or refuse where that is not at least a role."""
    asker = asker_of(connection)
    if asker is None:
        raise RequestError(
            "TOKEN_NEEDED",
            "nobody is known to have asked this",
            hint="Send a token as `Authorization: Bearer TOKEN`.",
        )
    if asker.role < role:
        raise RequestError(
            "ROLE_NEEDED",
            f'this needs the role {role.name.lower()}; "{asker.name}" is {asker.role.name.lower()}',
            hint="An admin makes tokens with `penstock serve token create --role`.",
        )
    return asker
