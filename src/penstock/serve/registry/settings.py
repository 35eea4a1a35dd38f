"""Compatibility levels, other settings and modes in the registry's REST API."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException, Response

from penstock.schema.registry.port import SchemaRegistry
from penstock.serve.registry.body import object_of, settings_of
from penstock.serve.registry.request import Question
from penstock.serve.registry.response import RegistryResponse


def settings_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/config`; without a subject they are about all."""
    routes = APIRouter(prefix="/config", default_response_class=RegistryResponse)

    @routes.get("")
    @routes.get("/{subject}")
    def get_settings(asked: Question) -> Response:
        found = registry.settings(asked.scope, in_force=asked.flag("defaultToGlobal"))
        return RegistryResponse(dict(found))

    @routes.put("")
    @routes.put("/{subject}")
    def set_settings(asked: Question) -> Response:
        registry.set_settings(asked.scope, settings_of(asked.body))
        return RegistryResponse(asked.body)

    @routes.delete("")
    @routes.delete("/{subject}")
    def delete_settings(asked: Question) -> Response:
        return RegistryResponse(dict(registry.delete_settings(asked.scope)))

    return routes


def mode_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/mode`; without a subject they are about all."""
    routes = APIRouter(prefix="/mode", default_response_class=RegistryResponse)

    @routes.get("")
    @routes.get("/{subject}")
    def get_mode(asked: Question) -> Response:
        found = registry.mode(asked.scope, in_force=asked.flag("defaultToGlobal"))
        return RegistryResponse({"mode": found})

    @routes.put("")
    @routes.put("/{subject}")
    def set_mode(asked: Question) -> Response:
        mode = object_of(asked.body).get("mode")
        if mode is not None and not isinstance(mode, str):
            raise HTTPException(422, '"mode" is no text')
        registry.set_mode(asked.scope, mode, force=asked.flag("force"))
        return RegistryResponse({"mode": mode})

    @routes.delete("")
    @routes.delete("/{subject}")
    def delete_mode(asked: Question) -> Response:
        return RegistryResponse({"mode": registry.delete_mode(asked.scope)})

    return routes
