"""The endpoints of a registry's REST API: each answers as documented, and refuses as documented."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import httpx
from typing_extensions import override

from penstock.errors import StorageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.topic import Topic
from penstock.schema.registry.registry import Registry
from tests.conformance.avro_error import in_trouble
from tests.conformance.avro_server import body, record, served, serving
from tests.conformance.runner import Case, Check, holds, same

Body: TypeAlias = dict[str, Any] | None
Shape: TypeAlias = Callable[[httpx.Response], bool]

PLACES = {"subject": "s", "version": "1", "id": "1", "guid": "GUID", "context": ".", "name": "s"}
STORELESS = ("/schemas/types", "/v1/metadata", "/")
NEW = record("f0", f9="z")


def _has(*names: str) -> Shape:
    return lambda response: set(names) <= set(response.json())


def _is(value: object) -> Shape:
    return lambda response: bool(response.json() == value)


def _text(response: httpx.Response) -> bool:
    return '"type":"record"' in response.text


SHAPES: Mapping[tuple[str, str], Shape] = {
    ("GET", "/"): _is({}),
    ("POST", "/"): _is({}),
    ("GET", "/subjects"): _is(["s", "t"]),
    ("POST", "/subjects/{subject}"): _has("subject", "id", "version", "schema"),
    ("DELETE", "/subjects/{subject}"): _is([1, 2]),
    ("GET", "/subjects/{subject}/metadata"): _has("subject", "id", "version", "metadata"),
    ("GET", "/subjects/{subject}/versions"): _is([1, 2]),
    ("POST", "/subjects/{subject}/versions"): _has("id"),
    ("GET", "/subjects/{subject}/versions/{version}"): _has("subject", "id", "version", "schema"),
    ("DELETE", "/subjects/{subject}/versions/{version}"): _is(1),
    ("GET", "/subjects/{subject}/versions/{version}/schema"): _text,
    ("GET", "/subjects/{subject}/versions/{version}/referencedby"): _is([3]),
    ("POST", "/compatibility/subjects/{subject}/versions"): _is({"is_compatible": True}),
    ("POST", "/compatibility/subjects/{subject}/versions/{version}"): _is({"is_compatible": True}),
    ("GET", "/schemas"): lambda response: len(response.json()) == 3,
    ("GET", "/schemas/types"): _has("AVRO", "JSON", "PROTOBUF"),
    ("GET", "/schemas/ids/{id}"): _has("schema"),
    ("GET", "/schemas/ids/{id}/schema"): _text,
    ("GET", "/schemas/ids/{id}/subjects"): _is(["s"]),
    ("GET", "/schemas/ids/{id}/versions"): _is([{"subject": "s", "version": 1}]),
    ("GET", "/schemas/guids/{guid}"): _has("schema", "guid"),
    ("GET", "/schemas/guids/{guid}/ids"): _is([{"context": ".", "id": 1}]),
    ("GET", "/config"): _is({"compatibilityLevel": "FULL"}),
    ("PUT", "/config"): _is({"compatibility": "FORWARD"}),
    ("DELETE", "/config"): _is({"compatibilityLevel": "FULL"}),
    ("GET", "/config/{subject}"): _is({"compatibilityLevel": "BACKWARD"}),
    ("PUT", "/config/{subject}"): _is({"compatibility": "FORWARD"}),
    ("DELETE", "/config/{subject}"): _is({"compatibilityLevel": "BACKWARD"}),
    ("GET", "/mode"): _is({"mode": "READWRITE"}),
    ("PUT", "/mode"): _is({"mode": "READONLY"}),
    ("DELETE", "/mode"): _is({"mode": "READWRITE"}),
    ("GET", "/mode/{subject}"): _is({"mode": "READWRITE"}),
    ("PUT", "/mode/{subject}"): _is({"mode": "READONLY"}),
    ("DELETE", "/mode/{subject}"): _is({"mode": "READWRITE"}),
    ("GET", "/contexts"): _is(["."]),
    ("GET", "/v1/metadata/id"): _has("scope", "id"),
    ("GET", "/v1/metadata/version"): _has("version", "commitId"),
}


class _BrokenLog(EmbeddedLog):
    """A log that can no longer be read."""

    @override
    def topic(self, name: str) -> Topic:
        raise StorageError("STORAGE_FAILED", "the disk is gone", hint="")


def check_endpoint(case: Case) -> None:
    """A method and a path: what success gives, and each error that is documented."""
    key = (case.given["method"], case.given["path"])
    holds(key in SHAPES, f"{key} is known")
    if key == ("DELETE", "/subjects/{subject}/versions/{version}"):
        # What others refer to cannot be deleted; nothing refers to the versions of t.
        _check_success(key, case.expect["success"], {**PLACES, "subject": "t"})
    elif key == ("DELETE", "/subjects/{subject}"):
        _check_success(key, case.expect["success"], PLACES, alone=True)
    else:
        _check_success(key, case.expect["success"], PLACES)
    for status, numbers in case.expect.get("documented_errors", {}).items():
        for number in numbers or [int(status)]:
            _check_error(key, int(status), number, case.expect["success"])


def _check_success(
    key: tuple[str, str], success: str, places: Mapping[str, str], *, alone: bool = False
) -> None:
    with served() as api:
        _prepare(api, alone=alone)
        response = _call(api, key, places)
    wanted = int(success.split(maxsplit=1)[0]) if success[:3].isdigit() else 200
    same(response.status_code, wanted, f"status ({response.text})")
    holds(SHAPES[key](response), f"{response.text} is what {key} gives")
    holds("json" in response.headers["content-type"], "the content type is JSON")


def _check_error(key: tuple[str, str], status: int, number: int, success: str) -> None:
    if number >= 50000:
        if not key[1].startswith(STORELESS[:2]) and key[1] != "/":
            _check_trouble(key, status, number)
        return
    with served() as api:
        _prepare(api)
        response = _call(api, key, PLACES, wrong=number)
    found = response.json()["error_code"]
    # The notes of a case may name a nearer code than the table of its page.
    told = {number, *map(int, re.findall(r"\b4\d{4}\b", success))}
    same(response.status_code, status, f"status for {number}")
    holds(found in told or (number < 1000 and found // 100 == number), f"{found} is in {told}")


def _check_trouble(key: tuple[str, str], status: int, number: int) -> None:
    """The log fails: while writing, by others, or (50001) already while reading."""
    if number == 50001:
        with _BrokenLog(MemoryStorage()) as log, serving(Registry(log)) as api:
            response = _call(api, key, PLACES)
    else:
        with in_trouble(number) as api:
            response = _call(api, key, {**PLACES, "subject": "new"})
    same(response.status_code, status, f"status for {number} ({response.text})")
    same(response.json()["error_code"], number, f"error_code for {number}")


def _prepare(api: httpx.Client, *, alone: bool = False) -> None:
    """A subject of two versions, another that refers to it, a level and a mode of its own."""
    metadata = {"properties": {"owner": "me"}}
    api.post("/subjects/s/versions", json=body(record("f0")))
    api.post("/subjects/s/versions", json=body(record("f0", f1="x"), metadata=metadata))
    if not alone:
        pointing = [{"name": "myrecord", "subject": "s", "version": 1}]
        pointer = {"type": "array", "items": "myrecord"}
        api.post("/subjects/t/versions", json=body(pointer, references=pointing))
    api.put("/config", json={"compatibility": "FULL"})
    api.put("/config/s", json={"compatibility": "BACKWARD"})
    api.put("/mode/s", json={"mode": "READWRITE"})


def _call(
    api: httpx.Client, key: tuple[str, str], places: Mapping[str, str], wrong: int = 0
) -> httpx.Response:
    method, path = key
    there = dict(places)
    if "{guid}" in path:
        there["guid"] = str(api.get("/schemas/ids/1").json().get("guid", "none"))
    there |= _WRONG_PLACES.get(wrong, {})
    address = re.sub(r"\{(\w+)\}", lambda found: there[found.group(1)], path)
    query = {"key": "owner", "value": "me"} if path.endswith("/metadata") else {}
    sent = _body_for(method, path, wrong)
    return api.request(method, address, params=query, json=sent)


_WRONG_PLACES: Mapping[int, Mapping[str, str]] = {
    40401: {"subject": "nope"},
    40402: {"version": "77"},
    40403: {"id": "777", "guid": "none"},
    42202: {"version": "earliest"},
    42208: {"subject": "%0A"},
}


def _body_for(method: str, path: str, wrong: int) -> Body:
    if method == "PUT":
        if path.startswith("/config"):
            return {"compatibility": "SIDEWAYS" if wrong == 42203 else "FORWARD"}
        return {"mode": {42204: "SIDEWAYS", 42205: "IMPORT"}.get(wrong, "READONLY")}
    if method != "POST":
        return None
    if wrong == 42201:
        return body("no schema")
    if wrong == 409:
        return body(record("f0", "without_default"))
    known = path == "/subjects/{subject}"
    return body(record("f0") if known else NEW)


ENDPOINT_CHECKS: Mapping[str, Check] = {"rest_endpoint": check_endpoint}
