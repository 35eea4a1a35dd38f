"""Sequences of calls to a registry's REST API, each with what it must answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import httpx

from tests.conformance.avro_server import body, served, word
from tests.conformance.runner import Case, Check, holds, same

Step: TypeAlias = Mapping[str, Any]
FIRST_ERROR = 400


def _subject(step: Step) -> str:
    return word(step["subject"])


def _version(step: Step) -> str:
    return word(step.get("version", "latest"))


def _body(step: Step) -> dict[str, Any]:
    more = {
        name: step[name]
        for name in ("references", "id", "version", "metadata", "ruleSet")
        if name in step and not (name == "version" and step["op"] != "register")
    }
    kind = step.get("schemaType", step.get("schema_type", step.get("type")))
    if kind is not None:
        more["schemaType"] = kind
    return body(step.get("schema_text", step.get("schema", "")), **more)


def _query(step: Step, *names: str) -> dict[str, Any]:
    return {name: step[name] for name in names if name in step}


def _scoped(path: str, step: Step) -> str:
    return f"{path}/{_subject(step)}" if step.get("subject") is not None else path


def _compatibility(api: httpx.Client, step: Step) -> httpx.Response:
    path = f"/compatibility/subjects/{_subject(step)}/versions"
    if step.get("version") is not None:
        path = f"{path}/{_version(step)}"
    return api.post(path, json=_body(step), params=_query(step, "normalize", "verbose"))


Call: TypeAlias = Callable[[httpx.Client, Step], httpx.Response]

CALLS: Mapping[str, Call] = {
    "register": lambda api, step: api.post(
        f"/subjects/{_subject(step)}/versions", json=_body(step), params=_query(step, "normalize")
    ),
    "lookup": lambda api, step: api.post(
        f"/subjects/{_subject(step)}",
        json=_body(step),
        params=_query(step, "normalize", "deleted"),
    ),
    "get": lambda api, step: api.get(
        f"/subjects/{_subject(step)}/versions/{_version(step)}", params=_query(step, "deleted")
    ),
    "latest": lambda api, step: api.get(f"/subjects/{_subject(step)}/versions/latest"),
    "versions": lambda api, step: api.get(
        f"/subjects/{_subject(step)}/versions",
        params=_query(step, "deleted", "deletedOnly", "offset", "limit"),
    ),
    "subjects": lambda api, step: api.get(
        "/subjects",
        params=_query(step, "deleted", "deletedOnly", "subjectPrefix", "offset", "limit"),
    ),
    "schemas": lambda api, step: api.get(
        "/schemas", params=_query(step, "deleted", "latestOnly", "subjectPrefix")
    ),
    "contexts": lambda api, _: api.get("/contexts"),
    "types": lambda api, _: api.get("/schemas/types"),
    "get_id": lambda api, step: api.get(
        f"/schemas/ids/{word(step['id'])}", params=_query(step, "subject", "fetchMaxId", "format")
    ),
    "id_subjects": lambda api, step: api.get(
        f"/schemas/ids/{word(step['id'])}/subjects", params=_query(step, "deleted", "subject")
    ),
    "id_versions": lambda api, step: api.get(
        f"/schemas/ids/{word(step['id'])}/versions", params=_query(step, "deleted", "subject")
    ),
    "referenced_by": lambda api, step: api.get(
        f"/subjects/{_subject(step)}/versions/{_version(step)}/referencedby"
    ),
    "delete_version": lambda api, step: api.delete(
        f"/subjects/{_subject(step)}/versions/{_version(step)}", params=_query(step, "permanent")
    ),
    "delete_subject": lambda api, step: api.delete(
        f"/subjects/{_subject(step)}", params=_query(step, "permanent")
    ),
    "set_config": lambda api, step: api.put(
        _scoped("/config", step), json={"compatibility": step.get("level")}
    ),
    "get_config": lambda api, step: api.get(
        _scoped("/config", step), params=_query(step, "defaultToGlobal")
    ),
    "delete_config": lambda api, step: api.delete(_scoped("/config", step)),
    "set_mode": lambda api, step: api.put(
        _scoped("/mode", step), json={"mode": step.get("mode")}, params=_query(step, "force")
    ),
    "get_mode": lambda api, step: api.get(
        _scoped("/mode", step), params=_query(step, "defaultToGlobal")
    ),
    "delete_mode": lambda api, step: api.delete(_scoped("/mode", step)),
    "test_compatibility": _compatibility,
}
OTHER_WORDS: Mapping[str, str] = {
    "get_version": "get",
    "get_latest": "latest",
    "list_versions": "versions",
    "list_subjects": "subjects",
    "by_id": "get_id",
    "get_by_id": "get_id",
    "get_schema": "get_id",
    "schema_by_id": "get_id",
    "subjects_by_id": "id_subjects",
    "versions_by_id": "id_versions",
    "referencedby": "referenced_by",
    "config": "get_config",
    "mode": "get_mode",
    "compatibility": "test_compatibility",
    "compatible": "test_compatibility",
}


def check_scenario(case: Case) -> None:
    """Make the calls one after the other, and compare each answer."""
    with served(case.given.get("global_level_at_start", "BACKWARD")) as api:
        wanted = case.expect["results"]
        same(len(wanted), len(case.given["steps"]), "number of results")
        for number, step in enumerate(case.given["steps"]):
            name = OTHER_WORDS.get(step["op"], step["op"])
            holds(name in CALLS, f"the step {step['op']} is known")
            response = CALLS[name](api, step)
            _compare(api, step, response, wanted[number], f"step {number} ({step['op']})")


def _compare(
    api: httpx.Client, step: Step, response: httpx.Response, wanted: object, where: str
) -> None:
    found = response.json()
    if not isinstance(wanted, dict):
        same(response.status_code, 200, f"{where}: status ({found})")
        same(found, wanted, where)
        return
    failing = {"error_code", "http_status"} & set(wanted) and wanted.get("http_status") != 200
    same(response.status_code >= FIRST_ERROR, bool(failing), f"{where}: refused ({found})")
    for name, value in wanted.items():
        same(_told(api, step, response, name), value, f"{where}: {name}")


def _told(api: httpx.Client, step: Step, response: httpx.Response, name: str) -> object:
    """Give what an answer says about one thing that a case names."""
    if name in {"http_status", "ok"}:
        return response.status_code if name == "http_status" else response.is_success
    found = response.json()
    match name:
        case "level" | "compatibility" | "compatibilityLevel":
            return found.get("compatibilityLevel", found.get("compatibility"))
        case "schema":
            return json.loads(found["schema"])
        case "version" if step["op"] == "register":
            return CALLS["lookup"](api, step).json()["version"]
        case _:
            return found.get(name)


SCENARIO_CHECKS: Mapping[str, Check] = {"rest_scenario": check_scenario}
