"""Error codes of a registry's REST API, each brought about as its condition says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx
from typing_extensions import override

from penstock.errors import StorageError, TransactionError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.embedded.transaction import EmbeddedTransaction
from penstock.log.port import Appended
from penstock.log.topic import Topic
from penstock.schema.registry.exchange import Retry
from penstock.schema.registry.registry import Registry
from penstock.schema.registry.remote import RemoteRegistry
from tests.conformance.avro_server import body, record, served, serving
from tests.conformance.runner import Case, Check, same

A, B = record("f0"), record("f1")
POINTING = {"references": [{"name": "myrecord", "subject": "s", "version": 1}]}


def _register(
    api: httpx.Client, schema: object, subject: str = "s", **more: object
) -> httpx.Response:
    return api.post(f"/subjects/{subject}/versions", json=body(schema, **more))


def _after(*calls: Callable[[httpx.Client], httpx.Response]) -> Callable[..., httpx.Response]:
    """Make calls one after the other, and give what the last one answered."""

    def run(api: httpx.Client) -> httpx.Response:
        return [call(api) for call in calls][-1]

    return run


def _registered(api: httpx.Client) -> httpx.Response:
    return _register(api, A)


def _soft_deleted(api: httpx.Client) -> httpx.Response:
    return api.delete("/subjects/s")


CONDITIONS: Mapping[int, Callable[[httpx.Client], httpx.Response]] = {
    40401: lambda api: api.get("/subjects/nope/versions"),
    40402: _after(_registered, lambda api: api.get("/subjects/s/versions/7")),
    40403: lambda api: api.get("/schemas/ids/7"),
    40404: _after(_registered, _soft_deleted, _soft_deleted),
    40405: _after(_registered, lambda api: api.delete("/subjects/s?permanent=true")),
    40406: _after(
        _registered,
        lambda api: _register(api, record("f0", f2="x")),
        lambda api: api.delete("/subjects/s/versions/1"),
        lambda api: api.delete("/subjects/s/versions/1"),
    ),
    40407: _after(_registered, lambda api: api.delete("/subjects/s/versions/1?permanent=true")),
    40408: _after(_registered, lambda api: api.get("/config/s")),
    40409: _after(_registered, lambda api: api.get("/mode/s")),
    40901: _after(_registered, lambda api: _register(api, B)),
    409: _after(_registered, lambda api: _register(api, B)),
    42201: lambda api: _register(api, "no schema"),
    42202: _after(_registered, lambda api: api.get("/subjects/s/versions/earliest")),
    42203: lambda api: api.put("/config", json={"compatibility": "SIDEWAYS"}),
    42204: lambda api: api.put("/mode", json={"mode": "SIDEWAYS"}),
    42205: _after(lambda api: api.put("/mode", json={"mode": "READONLY"}), _registered),
    42206: _after(
        _registered,
        lambda api: _register(api, {"type": "array", "items": "myrecord"}, "t", **POINTING),
        lambda api: api.delete("/subjects/s/versions/1"),
    ),
    42207: _after(
        lambda api: api.put("/mode/s", json={"mode": "IMPORT"}),
        lambda api: _register(api, A, id=5, version=1),
        lambda api: _register(api, A, id=6, version=1),
    ),
    42208: lambda api: _register(api, A, "%0Abad%09"),
    42209: lambda api: _register(api, {**A, "doc": "x" * (17 * 1024 * 1024)}),
    42210: lambda api: _register(api, A, ruleSet={"domainRules": [{"name": "", "kind": "X"}]}),
}


class _FencedTransaction(EmbeddedTransaction):
    @override
    def commit(self, note: str = "") -> None:
        raise TransactionError("WRITER_FENCED", "others are always quicker", hint="")


class _BusyLog(EmbeddedLog):
    @override
    def transaction(self, transactional_id: str) -> EmbeddedTransaction:
        return _FencedTransaction(transactional_id, self._transactions, self, self._groups)


class _FullLog(EmbeddedLog):
    @override
    def append_in_transaction(self, *_: Any, **__: Any) -> Appended:
        raise StorageError("DISK_FULL", "the disk is full", hint="")


class _LostLog(EmbeddedLog):
    @override
    def topic(self, name: str) -> Topic:
        raise StorageError("LOG_UNREACHABLE", "the log's server is gone", hint="")


@contextmanager
def in_trouble(number: int) -> Iterator[httpx.Client]:
    """Give a client of a registry whose log, or whose own registry, is in trouble."""
    if number == 50003:
        far = RemoteRegistry("http://127.0.0.1:1", retry=Retry(times=0))
        with serving(far) as api:
            yield api
        far.close()
        return
    kind = {50001: _FullLog, 50002: _BusyLog, 50004: _LostLog}[number]
    with kind(MemoryStorage()) as log, serving(Registry(log)) as api:
        yield api


def provoked(number: int) -> httpx.Response:
    """Bring an error about, and give the answer."""
    if number >= 50000:
        with in_trouble(number) as api:
            return _register(api, A)
    with served() as api:
        return CONDITIONS[number](api)


def check_error_code(case: Case) -> None:
    """The condition of an error code: status, and the number in the body."""
    number = case.expect["error_code"]
    response = provoked(number)
    found = response.json()
    same(response.status_code, case.expect["http_status"], f"status ({found})")
    same(set(found), {"error_code", "message"}, "body")
    same(found["error_code"], number, "error_code")


ERROR_CHECKS: Mapping[str, Check] = {"rest_error_code": check_error_code}
