"""The application of a server: its API, the registry and the pages, on one port."""

from __future__ import annotations

from fastapi import FastAPI

from penstock.serve.platform import Platform
from penstock.serve.registry.api import registry_app

API = "/api/v1"


def application(platform: Platform) -> FastAPI:
    """Give what answers for a platform; pages are added by `add_pages`."""
    app = FastAPI(title="Penstock", openapi_url=f"{API}/openapi.json", docs_url="/api/docs")
    app.mount("/registry", registry_app(platform.registry))
    return app
