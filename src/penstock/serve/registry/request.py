"""A request to the registry's REST API: its path, flags and body, as its clients write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias, TypeVar
from urllib.parse import unquote

from fastapi import Depends, HTTPException, Request

from penstock.errors import RegistryError
from penstock.schema.registry.context import DEFAULT_CONTEXT, within
from penstock.schema.registry.port import Which

LAST_VERSION = 2**31 - 1
CONTEXT_SCOPE = "penstock.registry.context"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request says."""

    request: Request
    body: bytes

    @property
    def context(self) -> str:
        """The context the address was of, as in `/contexts/.mine/subjects`."""
        return str(self.request.scope.get(CONTEXT_SCOPE, DEFAULT_CONTEXT))

    @property
    def subject(self) -> str:
        """The subject in the path."""
        return within(self.word("subject"), self.context)

    @property
    def scope(self) -> str | None:
        """The subject in the path, or the context of the address, or None for all."""
        if "subject" in self.request.path_params:
            return self.subject
        return None if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    @property
    def version(self) -> int | None:
        """The version in the path; None is the last one."""
        return version_named(self.word("version"))

    @property
    def id_subject(self) -> str | None:
        """The subject that tells in which context an id is meant."""
        given = self.text("subject")
        if given:
            return within(given, self.context)
        return None if self.context == DEFAULT_CONTEXT else f":{self.context}:"

    def word(self, name: str) -> str:
        """Give a part of the path, which is routed as it was written and read only here."""
        return unquote(self.request.path_params[name])

    def number(self, name: str) -> int:
        """Give a part of the path that must be a number."""
        return _whole(self.word(name))

    def text(self, name: str, default: str = "") -> str:
        """Give a word of the query."""
        return self.request.query_params.get(name, default)

    def flag(self, *names: str) -> bool:
        """Whether the query says true, in any case of letters, to one of these."""
        return any(self.text(name).strip().lower() == "true" for name in names)

    @property
    def which(self) -> Which:
        """Which versions or subjects the query asks for."""
        # Python's client says deleted_only, Java's deletedOnly.
        if self.flag("deletedOnly", "deleted_only"):
            return "deleted"
        return "all" if self.flag("deleted") else "live"

    def page(self, items: Sequence[T]) -> list[T]:
        """Give the part of a list that the query asks for; a limit below 1 is none."""
        offset, limit = _whole(self.text("offset", "0")), _whole(self.text("limit", "-1"))
        first = max(offset, 0)
        return list(items[first : first + limit] if limit > 0 else items[first:])


async def _asked(request: Request) -> Asked:
    return Asked(request, await request.body())


Question: TypeAlias = Annotated[Asked, Depends(_asked)]


def version_named(text: str) -> int | None:
    """Read a version: a number from 1, or `latest` (or -1), which is None."""
    word = text.strip().lower()
    if word in {"latest", "-1"}:
        return None
    if word.isascii() and word.isdigit() and 1 <= int(word) <= LAST_VERSION:
        return int(word)
    raise RegistryError(
        "VERSION_NUMBER",
        f'version "{text}" is neither a number from 1 nor "latest"',
        hint="Ask for a version the subject has.",
    )


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        # As Confluent's server does: what is no number is an address nobody has.
        raise HTTPException(404, "HTTP 404 Not Found") from None
