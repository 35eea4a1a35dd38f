"""Whether the server lives, and whether all of it has started."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from fastapi import APIRouter, Response

from penstock.serve.platform import Platform


@dataclass(frozen=True, slots=True)
class Alive:
    """The server answers."""

    status: str = "ok"


@dataclass(frozen=True, slots=True)
class Ready:
    """Whether all has started, and what has not."""

    ready: bool
    starting: list[str]


def routes(platform: Platform) -> APIRouter:
    """Give `/healthz` and `/readyz`, which answer everybody."""
    router = APIRouter(tags=["health"])

    @router.get("/healthz")
    async def healthz() -> Alive:
        """Say that the server lives."""
        return Alive()

    @router.get(
        "/readyz", responses={503: {"model": Ready, "description": "Something starts still."}}
    )
    def readyz(response: Response) -> Ready:
        """Say whether Spark and all jobs have started; 503 until they have."""
        starting = platform.readiness.starting()
        if starting:
            response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return Ready(not starting, list(starting))

    return router
