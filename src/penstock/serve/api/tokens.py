"""Tokens over HTTP: who may ask this server. For admins."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Literal

from fastapi import APIRouter, Body, Path

from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import Token, TokenFile
from penstock.serve.platform import Platform

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"
Name = Annotated[str, Path(pattern=_NAME, description="The name of a token.")]


@dataclass(frozen=True, slots=True)
class TokenShown:
    """What can be seen of a token; `created` is in milliseconds since 1970."""

    name: str
    role: Literal["reader", "writer", "admin"]
    created: int


@dataclass(frozen=True, slots=True)
class TokenMade:
    """A new token: this is the only time that it can be seen."""

    name: str
    role: Literal["reader", "writer", "admin"]
    token: str


def routes(platform: Platform) -> APIRouter:
    """Give the routes of tokens."""
    tokens = TokenFile(platform.home)
    router = APIRouter(prefix="/tokens", tags=["tokens"], dependencies=[needs(Role.ADMIN)])

    @router.get("")
    def list_tokens() -> list[TokenShown]:
        """List the tokens of this server, without themselves."""
        return list(map(_shown, tokens.tokens()))

    @router.post("", status_code=HTTPStatus.CREATED)
    def create_token(
        name: Annotated[str, Body(pattern=_NAME)],
        role: Annotated[Literal["reader", "writer", "admin"], Body()],
    ) -> TokenMade:
        """Make a token. From the first one on, nobody is answered without one."""
        return TokenMade(name, role, tokens.create(name, Role[role.upper()]))

    @router.delete("/{name}")
    def revoke_token(name: Name) -> TokenShown:
        """Let a token hold no longer."""
        return _shown(tokens.revoke(name))

    return router


def _shown(token: Token) -> TokenShown:
    role: Literal["reader", "writer", "admin"] = token.role.name.lower()  # type: ignore[assignment]
    return TokenShown(token.name, role, token.created)
