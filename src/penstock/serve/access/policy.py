"""Whom a server answers: what is asked of a request before anything else looks at it."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.serve.access.token_file import TokenFile
from penstock.serve.access.wrong_tokens import WrongTokens

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Policy:
    """For this machine only, or for whoever has a token; and from which other origins."""

    tokens: TokenFile
    loopback: bool = True
    origins: frozenset[str] = field(default_factory=frozenset)
    wrong: WrongTokens = field(default_factory=WrongTokens)
