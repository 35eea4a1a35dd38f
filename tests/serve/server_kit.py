"""A small home with its application, asked in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from fastapi import FastAPI
from starlette.testclient import TestClient

from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.access.wrong_tokens import WrongTokens
from penstock.serve.application import application
from penstock.serve.limits import Limits
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform


class Asked(NamedTuple):
    """A server, and who asks it from the same machine."""

    platform: Platform
    app: FastAPI
    client: TestClient
    tokens: TokenFile

    def bearer(self, role: Role) -> dict[str, str]:
        """Make a token of a role, and give the header that shows it."""
        return {"Authorization": f"Bearer {self.tokens.create(role.name.lower(), role)}"}


@contextmanager
def asked(
    home: Path,
    *,
    loopback: bool = True,
    origins: frozenset[str] = frozenset(),
    limits: Limits | None = None,
    wrong: WrongTokens | None = None,
) -> Iterator[Asked]:
    """Open a home and what answers for it."""
    tokens = TokenFile(home)
    with opened_platform(home) as platform:
        policy = Policy(tokens, loopback, origins, wrong or WrongTokens())
        app = application(platform, policy, limits)
        yield Asked(platform, app, TestClient(app, "http://127.0.0.1"), tokens)
