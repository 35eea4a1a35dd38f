"""Measurements of the home and of the server itself, for Prometheus to fetch."""

from __future__ import annotations

from fastapi import APIRouter, Response

from penstock.serve.access.needs import needs
from penstock.serve.access.role import Role
from penstock.serve.platform import Platform
from penstock.watch.exposition import CONTENT_TYPE, exposition
from penstock.watch.metrics import collect


def routes(platform: Platform) -> APIRouter:
    """Give `/metrics`."""
    router = APIRouter(tags=["health"])

    @router.get(
        "/metrics",
        dependencies=[needs(Role.READER)],
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    )
    def metrics() -> Response:
        """Give all measurements in Prometheus's text format."""
        families = [*collect(platform.home, platform.log), *platform.requests.families()]
        return Response(exposition(families), media_type=CONTENT_TYPE)

    return router
