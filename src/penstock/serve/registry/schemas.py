"""Schemas by id and guid, and what the server is, in the registry's REST API."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

import penstock
from penstock.schema.registry.context import context_of
from penstock.schema.registry.languages import SCHEMA_TYPES
from penstock.schema.registry.port import EVERY_CONTEXT, SchemaRegistry
from penstock.serve.registry.body import version_answer
from penstock.serve.registry.request import Question
from penstock.serve.registry.response import RegistryResponse, bare_text


def schema_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/schemas`."""
    routes = APIRouter(prefix="/schemas", default_response_class=RegistryResponse)

    @routes.get("")
    def list_schemas(asked: Question) -> Response:
        prefix = asked.text("subjectPrefix", asked.id_subject or EVERY_CONTEXT)
        found = registry.schemas(asked.which, prefix=prefix, latest_only=asked.flag("latestOnly"))
        return RegistryResponse([version_answer(one, one.schema.text) for one in asked.page(found)])

    @routes.get("/types")
    def list_types() -> Response:
        return RegistryResponse(list(SCHEMA_TYPES))

    @routes.get("/guids/{guid}")
    def get_by_guid(asked: Question) -> Response:
        found = registry.all_with_guid(asked.word("guid"))[0]
        text = registry.formatted(found, asked.text("format"))
        return RegistryResponse(version_answer(found, text))

    @routes.get("/guids/{guid}/ids")
    def list_ids(asked: Question) -> Response:
        found = registry.all_with_guid(asked.word("guid"))
        pairs = dict.fromkeys((context_of(one.subject), one.id) for one in found)
        return RegistryResponse([{"context": context, "id": one} for context, one in pairs])

    _id_routes(routes, registry)
    return routes


def server_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths that tell of the server itself."""
    routes = APIRouter(default_response_class=RegistryResponse)

    @routes.get("/")
    @routes.post("/")
    def nothing() -> Response:
        return RegistryResponse({})

    @routes.get("/contexts")
    def list_contexts(asked: Question) -> Response:
        return RegistryResponse(asked.page(registry.contexts()))

    @routes.get("/v1/metadata/id")
    def cluster_id() -> Response:
        clusters = {"kafka-cluster": "penstock", "schema-registry-cluster": "schema-registry"}
        return RegistryResponse({"scope": {"path": [], "clusters": clusters}, "id": ""})

    @routes.get("/v1/metadata/version")
    def server_version() -> Response:
        return RegistryResponse({"version": penstock.__version__, "commitId": ""})

    @routes.get("/v1/metadata/deployment")
    def deployment() -> Response:
        return RegistryResponse({"attributes": []})

    return routes


def _id_routes(routes: APIRouter, registry: SchemaRegistry) -> None:
    @routes.get("/ids/{id}")
    def get_by_id(asked: Question) -> Response:
        found = registry.registered_with_id(asked.number("id"), subject=asked.id_subject)
        text = registry.formatted(found, asked.text("format"))
        answer: dict[str, Any] = version_answer(found, text)
        if asked.flag("fetchMaxId"):
            answer["maxId"] = registry.last_id(context_of(found.subject))
        return RegistryResponse(answer)

    @routes.get("/ids/{id}/schema")
    def get_text_by_id(asked: Question) -> Response:
        found = registry.registered_with_id(asked.number("id"), subject=asked.id_subject)
        return bare_text(registry.formatted(found, asked.text("format")))

    @routes.get("/ids/{id}/subjects")
    def list_subjects(asked: Question) -> Response:
        found = registry.all_with_id(
            asked.number("id"), subject=asked.id_subject, which=asked.which
        )
        return RegistryResponse(asked.page(list(dict.fromkeys(one.subject for one in found))))

    @routes.get("/ids/{id}/versions")
    def list_versions(asked: Question) -> Response:
        found = registry.all_with_id(
            asked.number("id"), subject=asked.id_subject, which=asked.which
        )
        pairs = [{"subject": one.subject, "version": one.version} for one in found]
        return RegistryResponse(asked.page(pairs))
