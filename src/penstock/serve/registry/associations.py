"""Associations of topics with subjects in the registry's REST API."""

from __future__ import annotations

from fastapi import APIRouter, Response

from penstock.schema.registry.association import ANY_NAMESPACE, Asking, Association, wishes_of
from penstock.schema.registry.entry import association_document
from penstock.schema.registry.port import SchemaRegistry
from penstock.serve.registry.body import object_of, registration_in
from penstock.serve.registry.request import Asked, Question
from penstock.serve.registry.response import RegistryResponse

_NO_CONTENT = 204


def association_routes(registry: SchemaRegistry) -> APIRouter:
    """The paths below `/associations`."""
    routes = APIRouter(prefix="/associations", default_response_class=RegistryResponse)

    @routes.post("")
    def create(asked: Question) -> Response:
        return _created(registry, asked, "")

    @routes.put("/resources/{resource}")
    def create_or_change(asked: Question) -> Response:
        return _created(registry, asked, asked.word("resource"))

    @routes.get("/subjects/{subject}")
    def of_subject(asked: Question) -> Response:
        return _listed(registry, asked, _asking(asked, subject=asked.subject))

    @routes.get("/resources/{resource}")
    def of_resource(asked: Question) -> Response:
        return _listed(registry, asked, _asking(asked, resource=asked.word("resource")))

    @routes.get("/resources/{namespace}/{name}")
    def of_name(asked: Question) -> Response:
        name, namespace = asked.word("name"), asked.word("namespace")
        return _listed(registry, asked, _asking(asked, name=name, namespace=namespace))

    @routes.delete("/resources/{resource}")
    def delete(asked: Question) -> Response:
        asking = _asking(asked, resource=asked.word("resource"))
        registry.dissociate(asking, with_subjects=asked.flag("cascadeLifecycle"))
        return RegistryResponse(b"", _NO_CONTENT)

    return routes


def _asking(
    asked: Asked,
    *,
    name: str = "",
    namespace: str = ANY_NAMESPACE,
    resource: str = "",
    subject: str = "",
) -> Asking:
    parts = tuple(asked.request.query_params.getlist("associationType"))
    kind = asked.text("resourceType", "topic")
    return Asking(name, namespace, resource, kind, parts, subject)


def _listed(registry: SchemaRegistry, asked: Asked, asking: Asking) -> Response:
    found = registry.associations(asking)
    return RegistryResponse([association_document(one) for one in asked.page(found)])


def _created(registry: SchemaRegistry, asked: Asked, resource: str) -> Response:
    found = dict(object_of(asked.body))
    if resource:
        found["resourceId"] = found.get("resourceId") or resource
    return RegistryResponse(_answer(registry.associate(wishes_of(found, registration_in))))


def _answer(made: list[Association]) -> dict[str, object]:
    documents = [association_document(one) for one in made]
    shared = {name: value for name, value in documents[0].items() if name.startswith("resource")}
    own = [{name: one[name] for name in one if name not in shared} for one in documents]
    return shared | {"associations": own}
