"""Subjects, versions and compatibility in the registry's REST API."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, Response

from penstock.errors import RegistryError
from penstock.schema.registry.port import EVERY_CONTEXT, SchemaRegistry
from penstock.schema.registry.registered import Registered
from penstock.serve.registry.body import registration_answer, registration_of, version_answer
from penstock.serve.registry.request import Asked, Question
from penstock.serve.registry.response import RegistryResponse, bare_text

_SCHEMA_REFUSED = "SCHEMA_TEXT"


def subject_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/subjects`."""
    routes = APIRouter(prefix="/subjects", default_response_class=RegistryResponse)

    @routes.get("")
    def list_subjects(asked: Question) -> Response:
        prefix = asked.text("subjectPrefix", _any_subject(asked))
        return RegistryResponse(asked.page(registry.subjects(asked.which, prefix=prefix)))

    @routes.post("/{subject}")
    def look_up(asked: Question) -> Response:
        found = registry.find(
            asked.subject,
            registration_of(asked.body),
            normalize=asked.flag("normalize"),
            deleted=asked.flag("deleted"),
        )
        return _version(registry, asked, found)

    @routes.delete("/{subject}")
    def delete_subject(asked: Question) -> Response:
        gone = registry.delete_subject(asked.subject, permanent=asked.flag("permanent"))
        return RegistryResponse(gone)

    @routes.get("/{subject}/metadata")
    def latest_with_metadata(asked: Question) -> Response:
        # Python's client encodes these words twice.
        query = asked.request.query_params
        names, values = map(unquote, query.getlist("key")), map(unquote, query.getlist("value"))
        wanted = dict(zip(names, values, strict=False))
        found = registry.with_metadata(asked.subject, wanted, deleted=asked.flag("deleted"))
        return _version(registry, asked, found)

    _version_routes(routes, registry)
    return routes


def compatibility_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/compatibility`."""
    routes = APIRouter(prefix="/compatibility", default_response_class=RegistryResponse)

    @routes.post("/subjects/{subject}/versions")
    def with_all(asked: Question) -> Response:
        return _compatibility(registry, asked, None)

    @routes.post("/subjects/{subject}/versions/{version}")
    def with_one(asked: Question) -> Response:
        return _compatibility(registry, asked, _compared(registry, asked))

    return routes


def _version_routes(routes: APIRouter, registry: SchemaRegistry) -> None:
    @routes.get("/{subject}/versions")
    def list_versions(asked: Question) -> Response:
        found = registry.versions(asked.subject, asked.which)
        return RegistryResponse(asked.page([one.version for one in found]))

    @routes.post("/{subject}/versions")
    def register(asked: Question) -> Response:
        wanted = registration_of(asked.body)
        found = registry.register_as(asked.subject, wanted, normalize=asked.flag("normalize"))
        return RegistryResponse(registration_answer(found))

    @routes.get("/{subject}/versions/{version}")
    def get_version(asked: Question) -> Response:
        return _version(registry, asked, _asked_version(registry, asked))

    @routes.delete("/{subject}/versions/{version}")
    def delete_version(asked: Question) -> Response:
        gone = registry.delete_version(
            asked.subject, asked.version, permanent=asked.flag("permanent")
        )
        return RegistryResponse(gone)

    @routes.get("/{subject}/versions/{version}/schema")
    def get_schema_only(asked: Question) -> Response:
        found = _asked_version(registry, asked)
        return bare_text(registry.formatted(found, asked.text("format")))

    @routes.get("/{subject}/versions/{version}/referencedby")
    def referenced_by(asked: Question) -> Response:
        found = registry.referring(asked.subject, asked.version, deleted=asked.flag("deleted"))
        return RegistryResponse(asked.page(found))


def _asked_version(registry: SchemaRegistry, asked: Asked) -> Registered:
    return registry.version_of(asked.subject, asked.version, deleted=asked.flag("deleted"))


def _version(registry: SchemaRegistry, asked: Asked, found: Registered) -> Response:
    text = registry.formatted(found, asked.text("format"))
    return RegistryResponse(version_answer(found, text))


def _compared(registry: SchemaRegistry, asked: Asked) -> list[Registered]:
    """Give the version to compare with; the last one of a subject without any is none."""
    version = asked.version
    try:
        return [registry.version_of(asked.subject, version)]
    except RegistryError as error:
        if version is not None or error.code != "SUBJECT_MISSING":
            raise
        return []


def _compatibility(
    registry: SchemaRegistry, asked: Asked, against: list[Registered] | None
) -> Response:
    verbose = asked.flag("verbose")
    try:
        found = registry.objections(
            asked.subject,
            registration_of(asked.body),
            against=against,
            normalize=asked.flag("normalize"),
        )
    except RegistryError as error:
        if error.code != _SCHEMA_REFUSED or not verbose:
            raise
        found = (f"Invalid schema: {error.fact}",)
    answer: dict[str, Any] = {"is_compatible": not found}
    if verbose:
        answer["messages"] = list(found)
    return RegistryResponse(answer)


def _any_subject(asked: Asked) -> str:
    return EVERY_CONTEXT if asked.id_subject is None else asked.id_subject
