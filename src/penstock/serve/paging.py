"""Lists come in pages: `limit` rows `after` a cursor, and the cursor of the `next` ones."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query

from penstock.errors import RequestError

Item = TypeVar("Item")
_MOST, _USUAL = 1000, 100


@dataclass(frozen=True, slots=True)
class Page:
    """What part of a list is asked for: rows whose key comes after one."""

    limit: int
    after: str | None


def _asked_page(
    limit: Annotated[int, Query(ge=1, le=_MOST, description="How many at most.")] = _USUAL,
    after: Annotated[
        str | None, Query(max_length=2000, description="The `next` of the page before.")
    ] = None,
) -> Page:
    return Page(limit, None if after is None else _read(after))


PageAsked = Annotated[Page, Depends(_asked_page)]
"""The type of a parameter of a route that gives a list."""


def page_of(items: Sequence[Item], key: Callable[[Item], str], page: Page) -> dict[str, Any]:
    """Give the items of a page, by their keys in order, and where the next page begins.

    Who is added or removed meanwhile makes nobody else appear twice, or not at all.
    """
    ordered = sorted(items, key=key)
    if page.after is not None:
        ordered = [item for item in ordered if key(item) > page.after]
    shown = ordered[: page.limit]
    more = len(ordered) > len(shown)
    return {"items": shown, "next": _cursor(key(shown[-1])) if more else None}


def _cursor(key: str) -> str:
    return base64.urlsafe_b64encode(key.encode()).decode().rstrip("=")


def _read(cursor: str) -> str:
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        return base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError) as error:
        raise RequestError(
            "CURSOR_WRONG",
            "`after` is no cursor of a page",
            hint="Use the `next` of the page before, as it was.",
        ) from error
