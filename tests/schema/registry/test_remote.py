"""The registry over HTTP answers as the one in the log does, and says what goes wrong."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import pytest
from fastapi import FastAPI, Request, Response

from penstock.errors import ConfigError, RegistryError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.schema.codec.schemas import Schemas
from penstock.schema.registry.exchange import Retry
from penstock.schema.registry.open import open_schemas
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.registry.registered import Registration
from penstock.schema.registry.registry import Registry
from penstock.schema.registry.remote import RemoteRegistry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer
from tests.schema.registry.kit import a_registry, naming, record

A, AB, C = record("a"), record("a", b="x"), record("c")
AT_ONCE = Retry(times=2, sleep=lambda _: None)


@pytest.fixture
def both() -> Iterator[tuple[Registry, RemoteRegistry]]:
    near = a_registry()
    with HttpServer(registry_app(near)) as server:
        far = RemoteRegistry(server.url, retry=AT_ONCE)
        yield near, far
        far.close()


def code(act: Callable[[], object]) -> str:
    with pytest.raises(RegistryError) as caught:
        act()
    return caught.value.code


def test_everything_can_be_done_from_far(both: tuple[Registry, RemoteRegistry]) -> None:
    near, far = both
    schemas: Schemas = far
    assert schemas.register("a/b c", A).version == 1
    assert far.register("a/b c", AB, normalize=True) == near.version("a/b c")
    assert far.lookup("a/b c", A) == near.version("a/b c", 1)
    assert far.by_id(2) == near.by_id(2)
    assert far.version("a/b c") == near.version("a/b c")
    assert far.versions("a/b c") == near.versions("a/b c")
    assert far.subjects(prefix="a/") == ["a/b c"]
    assert far.schemas(latest_only=True) == near.schemas(latest_only=True)
    assert far.all_with_id(1) == near.all_with_id(1)
    assert far.registered_with_id(1, subject="a/b c") == near.registered_with_id(1)
    guid = near.version("a/b c").guid
    assert far.all_with_guid(guid) == near.all_with_guid(guid)
    assert far.contexts() == ["."]
    assert far.last_id(".") == near.last_id(".") == 2
    assert far.delete_version("a/b c") == 2
    assert far.versions("a/b c", "deleted") == near.versions("a/b c", "deleted")
    assert far.delete_subject("a/b c") == [1]
    assert far.subjects("deleted") == ["a/b c"]
    assert far.delete_subject("a/b c", permanent=True) == [1, 2]


def test_settings_and_modes_are_the_same(both: tuple[Registry, RemoteRegistry]) -> None:
    near, far = both
    far.set_level("s", "full")
    far.set_settings(None, {"normalize": True})
    assert far.settings("s") == near.settings("s") == {"compatibilityLevel": "FULL"}
    assert far.settings("t", in_force=True) == near.settings("t", in_force=True)
    assert far.delete_settings("s") == {"compatibilityLevel": "FULL"}
    assert far.settings()["normalize"] is True
    far.set_mode("s", "READONLY")
    assert far.mode("s") == near.mode("s") == "READONLY"
    assert far.mode("t", in_force=True) == "READWRITE"
    assert far.delete_mode("s") == "READONLY"
    far.set_mode(None, None)


def test_references_metadata_and_imports_cross_over(both: tuple[Registry, RemoteRegistry]) -> None:
    near, far = both
    far.register("address", record("street", name="Address"))
    array = naming({"type": "array", "items": "Address"}, ("Address", "address", 1))
    registered = far.register("book", array)
    assert far.referring("address") == near.referring("address") == [2]
    assert far.formatted(registered, "resolved") == near.formatted(registered, "resolved")
    assert far.formatted(registered) == registered.schema.text
    owned = Registration(A.text, metadata={"properties": {"owner": "ann lee"}})
    assert far.register_as("s", owned).metadata == owned.metadata
    assert far.with_metadata("s", {"owner": "ann lee"}) == near.version("s")
    far.set_mode("i", "IMPORT")
    assert far.register_as("i", Registration(C.text, id=70, version=3)).id == 70


def test_objections_are_told_in_words(both: tuple[Registry, RemoteRegistry]) -> None:
    near, far = both
    near.register("s", A)
    wanted = Registration(C.text)
    assert far.objections("s", wanted) == near.objections("s", wanted) != ()
    assert far.objections("s", wanted, against=[near.version("s")]) == near.objections("s", wanted)
    assert far.objections("s", Registration(AB.text)) == ()


@pytest.mark.parametrize(
    ("wanted", "act"),
    [
        ("SUBJECT_MISSING", lambda far: far.version("nope")),
        ("VERSION_MISSING", lambda far: far.version("s", 7)),
        ("SCHEMA_MISSING", lambda far: far.by_id(99)),
        ("SCHEMA_INCOMPATIBLE", lambda far: far.register("s", C)),
        ("SCHEMA_TEXT", lambda far: far.register_as("s", Registration("no schema"))),
        ("LEVEL_NOT_SET", lambda far: far.settings("s")),
        ("MODE_NAME", lambda far: far.set_mode("s", "SIDEWAYS")),
        ("VERSION_NOT_DELETED", lambda far: far.delete_version("s", 1, permanent=True)),
        ("SUBJECT_NAME", lambda far: far.register("", A)),
    ],
)
def test_refusals_have_the_same_codes_from_far(
    both: tuple[Registry, RemoteRegistry], wanted: str, act: Callable[[SchemaRegistry], object]
) -> None:
    near, far = both
    near.register("s", A)
    assert code(lambda: act(far)) == wanted
    if wanted != "SUBJECT_NAME":
        assert code(lambda: act(near)) == wanted


def test_an_id_is_asked_for_once(both: tuple[Registry, RemoteRegistry]) -> None:
    near, far = both
    near.register("s", A)
    known = far.by_id(1)
    near.delete_subject("s")
    near.delete_subject("s", permanent=True)
    assert far.by_id(1) == known


def answering(*answers: Response) -> tuple[FastAPI, list[Request]]:
    """A server that gives these answers in turn, the last one for ever."""
    app, asked = FastAPI(openapi_url=None), []

    @app.api_route("/{path:path}", methods=["GET", "POST"])
    def answer(request: Request) -> Response:
        asked.append(request)
        return answers[min(len(asked), len(answers)) - 1]

    return app, asked


def test_a_server_in_trouble_is_asked_again() -> None:
    app, asked = answering(Response("busy", 503), Response('["s"]', 200))
    with HttpServer(app) as server:
        far = RemoteRegistry(server.url, retry=AT_ONCE)
        assert far.subjects() == ["s"]
        far.close()
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (Response("<html>", 200), "REGISTRY_UNREACHABLE"),
        (Response("busy", 503), "REGISTRY_UNREACHABLE"),
        (Response('{"error_code": 50001, "message": "disk"}', 500), "REGISTRY_FAILED"),
        (Response('{"error_code": 40101, "message": "who?"}', 401), "REGISTRY_DENIED"),
        (Response('{"error_code": 409, "message": "old"}', 409), "SCHEMA_INCOMPATIBLE"),
        (Response('["odd"]', 400), "REGISTRY_FAILED"),
    ],
)
def test_what_goes_wrong_far_away_is_told(answer: Response, wanted: str) -> None:
    app, _ = answering(answer)
    with HttpServer(app) as server:
        far = RemoteRegistry(server.url, retry=AT_ONCE)
        assert code(far.subjects) == wanted
        far.close()


def test_nobody_there_is_told_after_some_attempts() -> None:
    pauses: list[float] = []
    far = RemoteRegistry("http://127.0.0.1:1", retry=Retry(times=3, sleep=pauses.append))
    assert code(far.subjects) == "REGISTRY_UNREACHABLE"
    assert len(pauses) == 3
    far.close()


def test_a_name_and_password_go_with_each_question_and_are_not_shown() -> None:
    app, asked = answering(Response('{"error_code": 403, "message": "no"}', 403))
    with HttpServer(app) as server:
        far = RemoteRegistry(server.url.replace("//", "//ann:s%40cret@"), retry=AT_ONCE)
        with pytest.raises(RegistryError, match="REGISTRY_DENIED") as caught:
            far.subjects()
        far.close()
    wanted = base64.b64encode(b"ann:s@cret").decode()
    assert asked[0].headers["authorization"] == f"Basic {wanted}"
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("url", ["registry:8081", "ftp://host", "http://", "http://host:port", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="REGISTRY_URL"):
        RemoteRegistry(url)


def test_a_registry_is_opened_by_its_address_or_from_the_log() -> None:
    log = EmbeddedLog(MemoryStorage())
    assert isinstance(open_schemas(log), Registry)
    assert isinstance(open_schemas(log, ""), Registry)
    far = open_schemas(log, "http://127.0.0.1:1")
    assert isinstance(far, RemoteRegistry)
    far.close()
