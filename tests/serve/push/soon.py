"""Doing what must not last."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def soon(work: Coroutine[Any, Any, Result]) -> Result:
    """Do it, within a time that no test needs."""

    async def limited() -> Result:
        async with asyncio.timeout(30):
            return await work

    return asyncio.run(limited())
