"""What the real client of Python sends, and that our registry understands each word of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qs

from confluent_kafka.schema_registry import (
    ConfigCompatibilityLevel,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
    ServerConfig,
)
from confluent_kafka.schema_registry.common.schema_registry_client import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
)
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.schema.registry.registry import Registry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer
from tests.conformance.avro_server import record
from tests.conformance.runner import Case, Check, holds, same

A = Schema(json.dumps(record("f0")), "AVRO")
B = Schema(json.dumps(record("f0", f1="x")), "AVRO")


BOUND = AssociationCreateOrUpdateRequest(
    "orders", "lkc", "orders-id", "topic", [AssociationCreateOrUpdateInfo("s", "value")]
)


class Sent(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any
    status: int


class Recorder:
    """Hands requests on, and remembers them with the status of their answers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.sent: list[Sent] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        read: list[bytes] = []

        async def listen() -> Any:  # noqa: ANN401  # what ASGI says
            message = await receive()
            read.append(message.get("body", b""))
            return message

        async def speak(message: Any) -> None:  # noqa: ANN401  # what ASGI says
            # Before the answer leaves: the client may look as soon as it has it.
            if message["type"] == "http.response.start":
                self.sent.append(_sent(scope, b"".join(read), message["status"]))
            await send(message)

        await self._app(scope, listen, speak)


def _sent(scope: Scope, body: bytes, status: int) -> Sent:
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    return Sent(
        scope["method"],
        scope["raw_path"].decode(),
        scope["query_string"].decode(),
        headers,
        json.loads(body) if body else None,
        status,
    )


@contextmanager
def recorded() -> Iterator[tuple[SchemaRegistryClient, list[Sent]]]:
    """Give a real client of a registry that holds something, and what it sends from now on."""
    with EmbeddedLog(MemoryStorage()) as log:
        recorder = Recorder(registry_app(Registry(log)))
        with (
            HttpServer(recorder) as server,
            SchemaRegistryClient({"url": server.url}) as client,
        ):
            _fill(client)
            client.clear_caches()
            recorder.sent.clear()
            yield client, recorder.sent


def _fill(client: SchemaRegistryClient) -> None:
    client.register_schema("s", A)
    client.register_schema("s", Schema(B.schema_str, "AVRO"))
    client.set_config("s", ServerConfig(ConfigCompatibilityLevel.BACKWARD))
    client.update_mode("s", "READWRITE")


Call = Callable[[SchemaRegistryClient], object]

CALLS: Mapping[str, tuple[Call, ...]] = {
    "register_schema": (
        lambda client: client.register_schema("s", A),
        lambda client: client.register_schema("new", B, normalize_schemas=True),
    ),
    "register_schema_full_response": (
        lambda client: client.register_schema_full_response("s", A),
        lambda client: client.register_schema_full_response("new", B, normalize_schemas=True),
    ),
    "get_schema": (
        lambda client: client.get_schema(1),
        lambda client: client.get_schema(2, subject_name="s", fmt="resolved"),
    ),
    "get_schema_by_guid": (
        lambda client: client.get_schema_by_guid(str(client.get_latest_version("s").guid)),
    ),
    "get_schema_types": (lambda client: client.get_schema_types(),),
    "get_subjects_by_schema_id": (
        lambda client: client.get_subjects_by_schema_id(1),
        lambda client: client.get_subjects_by_schema_id(1, subject_name="s", deleted=True),
    ),
    "get_schema_versions": (
        lambda client: client.get_schema_versions(1),
        lambda client: client.get_schema_versions(1, subject_name="s", deleted=True),
    ),
    "lookup_schema": (
        lambda client: client.lookup_schema("s", A),
        lambda client: client.lookup_schema("s", B, normalize_schemas=True, deleted=True),
    ),
    "get_subjects": (
        lambda client: client.get_subjects(),
        lambda client: client.get_subjects(subject_prefix="s", deleted=True),
    ),
    "delete_subject": (
        lambda client: client.delete_subject("s"),
        lambda client: client.delete_subject("s", permanent=True),
    ),
    "get_latest_version": (lambda client: client.get_latest_version("s"),),
    "get_latest_with_metadata": (
        lambda client: client.get_latest_with_metadata("s", {"owner": "nobody"}),
    ),
    "get_version": (
        lambda client: client.get_version("s", 1),
        lambda client: client.get_version("s", 2, deleted=True),
    ),
    "get_referenced_by": (lambda client: client.get_referenced_by("s", 1),),
    "get_versions": (
        lambda client: client.get_versions("s"),
        lambda client: client.get_versions("s", deleted=True),
    ),
    "delete_version": (
        lambda client: client.delete_version("s", 1),
        lambda client: client.delete_version("s", 1, permanent=True),
    ),
    "set_compatibility": (
        lambda client: client.set_compatibility(level="FULL"),
        lambda client: client.set_compatibility("s", "FULL"),
    ),
    "get_compatibility": (
        lambda client: client.get_compatibility(),
        lambda client: client.get_compatibility("s"),
    ),
    "test_compatibility": (
        lambda client: client.test_compatibility("s", A),
        lambda client: client.test_compatibility("s", A, 1, normalize=True),
    ),
    "test_compatibility_all_versions": (
        lambda client: client.test_compatibility_all_versions("s", A),
    ),
    "set_config": (
        lambda client: client.set_config(config=ServerConfig(ConfigCompatibilityLevel.FULL)),
        lambda client: client.set_config("s", ServerConfig(ConfigCompatibilityLevel.FULL)),
    ),
    "get_config": (lambda client: client.get_config(), lambda client: client.get_config("s")),
    "delete_config": (
        lambda client: client.delete_config(),
        lambda client: client.delete_config("s"),
    ),
    "get_mode": (lambda client: client.get_mode("s"),),
    "update_mode": (
        lambda client: client.update_mode("s", "READONLY"),
        lambda client: client.update_mode("s", "READWRITE", force=True),
    ),
    "delete_mode": (lambda client: client.delete_mode("s"),),
    "get_global_mode": (lambda client: client.get_global_mode(),),
    "update_global_mode": (lambda client: client.update_global_mode("READONLY"),),
    "get_associations_by_resource_name": (
        lambda client: client.get_associations_by_resource_name("orders", "-"),
        lambda client: client.get_associations_by_resource_name("orders", "lkc", "topic", ["key"]),
    ),
    "create_association": (lambda client: client.create_association(BOUND),),
    "delete_associations": (
        lambda client: client.delete_associations("orders-id"),
        lambda client: client.delete_associations("orders-id", "topic", ["value"]),
    ),
    "get_contexts": (lambda client: client.get_contexts(),),
}
OTHER_STATUS = {"get_latest_with_metadata": 404, "delete_associations": 204}
"""What the registry above does not have, and what has no answer."""


def check_call(case: Case) -> None:
    """A method of the client: the request it sends, and that ours is an answer to it."""
    name = case.given["call"]
    holds(name in CALLS, f"{name} is known")
    with recorded() as (client, sent):
        for call in CALLS[name]:
            before = len(sent)
            _attempt(call, client, refused=name in OTHER_STATUS)
            holds(len(sent) > before, f"{name} sends a request")
        for one in sent if name != "get_schema_by_guid" else sent[1:]:
            _check_request(one, case.expect)
            same(one.status, OTHER_STATUS.get(name, 200), f"status of {one.path}")


def check_headers(case: Case) -> None:
    """The headers of the client's requests, with a body and without."""
    with recorded() as (client, sent):
        client.get_subjects()
        client.register_schema("s", A)
        same([one.status for one in sent], [200, 200], "statuses")
        wanted = dict(_leaves(case.expect))
        for name, value in wanted.items():
            found = [one.headers.get(name.lower()) for one in sent]
            holds(
                any(_same_header(value, one) for one in found), f"{name}: {value!r} is in {found}"
            )


def _attempt(call: Call, client: SchemaRegistryClient, *, refused: bool) -> None:
    try:
        call(client)
    except SchemaRegistryError:
        if not refused:
            raise


def _check_request(one: Sent, expect: Mapping[str, Any]) -> None:
    same(one.method, expect["method"], "method")
    shown = f"{one.path}?{one.query}" if one.query else one.path
    forms = expect["path"].split(" or ")
    # "/a/{b} or ...?c=true" says the path once.
    forms = [form.replace("...", forms[0].partition("?")[0]) for form in forms]
    matching = [found for form in forms if (found := _matched(form, one)) is not None]
    holds(matching, f"{shown} is one of {expect['path']}")
    _check_query(one, matching, expect.get("query") or {})
    same(one.body is not None, expect.get("body") is not None, "has a body")
    if isinstance(expect.get("body"), dict):
        same(set(one.body), set(expect["body"]), "body")


def _matched(form: str, one: Sent) -> set[str] | None:
    """Give the words of the query that a form of the path accounts for; None if it is another."""
    path, _, query = form.partition("?")
    if not re.fullmatch(_pattern(path), one.path):
        return None
    given = parse_qs(one.query)
    named = dict(part.split("=", 1) for part in query.split("&") if part)
    fits = all(
        name in given and re.fullmatch(_pattern(value), given[name][0])
        for name, value in named.items()
    )
    return set(named) if fits else None


def _pattern(form: str) -> str:
    """Turn `/subjects/{subject}` or `{True|False}` into a pattern."""

    def alternatives(found: re.Match[str]) -> str:
        inside = found.group(1)
        if "True" in inside or "true" in inside:
            return "(True|False|true|false)"
        return "[^/?&]*"

    plain = re.split(r"(\{[^}]*\})", form)
    return "".join(
        re.sub(r"\{([^}]*)\}", alternatives, part) if part.startswith("{") else re.escape(part)
        for part in plain
    )


def _check_query(one: Sent, matching: list[set[str]], wanted: Mapping[str, Any]) -> None:
    given = parse_qs(one.query)
    allowed = max(matching, key=len) | set(wanted)
    holds(set(given) <= allowed, f"the query {given} has no more than {sorted(allowed)}")
    for name, value in wanted.items():
        if isinstance(value, int) and not isinstance(value, bool):
            same(given.get(name), [str(value)], f"query {name}")


def _leaves(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from _leaves(value)
        elif isinstance(value, str):
            yield name, value


def _same_header(wanted: str, found: str | None) -> bool:
    if found is None:
        return False
    wanted, found = wanted.replace(" ", ""), found.replace(" ", "")
    return found in wanted or bool(re.fullmatch(_header_pattern(wanted), found))


def _header_pattern(wanted: str) -> str:
    plain = re.split(r"[{<][^}>]*[}>]", wanted)
    return ".*".join(map(re.escape, plain))


CLIENT_CHECKS: Mapping[str, Check] = {
    "client_call": check_call,
    "client_headers": check_headers,
}
