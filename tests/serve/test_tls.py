from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

import penstock as ps
from penstock.client.server import Server
from penstock.config import Settings, load_settings
from penstock.errors import ConfigError
from penstock.log.remote.server_token import token_for
from penstock.log.remote.trust import trusting
from penstock.schema.registry.remote import RemoteRegistry
from penstock.serve.access.policy import Policy
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.server import HttpServer
from penstock.serve.tls import TlsFiles, tls_files
from penstock.sql.remote_session import RemoteSession
from penstock.sql.server_token import made_token
from tests.serve.certificates import Made, make


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("tls") / "own")


class Home(NamedTuple):
    """A server that speaks TLS, and a token of it."""

    url: str
    place: Path
    word: str


@pytest.fixture
def served(tmp_path: Path, made: Made) -> Iterator[Home]:
    tokens = TokenFile(tmp_path)
    word = tokens.create("ada", Role.ADMIN)
    tls = TlsFiles(made.certificate, made.key).context()
    with opened_platform(tmp_path) as platform:
        platform.log.create_topic("clicks")
        with HttpServer(application(platform, Policy(tokens)), tls=tls) as server:
            yield Home(server.url, tmp_path, word)


def test_every_client_reaches_a_server_whose_certificate_it_is_told_to_trust(
    served: Home, made: Made, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert served.url.startswith("https://")
    monkeypatch.setenv("PENSTOCK_TOKEN", served.word)
    monkeypatch.setenv("PENSTOCK_CA_FILE", str(made.certificate))
    with ps.open_log(served.url) as log:
        assert log.topics() == ("clicks",)
    monkeypatch.setenv("PENSTOCK_LOG", served.url)
    with ps.open_log() as log:
        assert log.topics() == ("clicks",)
    with Server(served.url, served.word, ca_file=made.certificate) as server:
        assert [topic["name"] for topic in server.items("/topics")] == ["clicks"]
    with RemoteSession(
        served.url, tmp_path, token=served.word, ca_file=made.certificate
    ) as session:
        assert "SHOW" in session.words()
    registry = RemoteRegistry(f"{served.url}/registry", token=served.word, ca_file=made.certificate)
    assert registry.subjects() == []
    registry.close()


def test_nothing_is_sent_after_a_handshake_that_could_meet_the_first_question(
    served: Home, made: Made
) -> None:
    address = httpx.URL(served.url)
    trusted = ssl.create_default_context(cafile=str(made.certificate))
    with (
        socket.create_connection((address.host, address.port or 0), timeout=10) as plain,
        trusted.wrap_socket(plain, server_hostname=address.host) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert connection.recv(4) == b"HTTP"
        assert connection.version() == "TLSv1.3"
        assert connection.session is not None
        assert not connection.session.has_ticket


def test_a_certificate_that_nobody_vouches_for_is_refused_by_every_client(
    served: Home, tmp_path: Path
) -> None:
    registry = RemoteRegistry(f"{served.url}/registry")
    for ask in (
        lambda: ps.open_log(served.url).topics(),
        lambda: Server(served.url).get("/topics"),
        lambda: RemoteSession(served.url, tmp_path).words(),
        registry.subjects,
    ):
        with pytest.raises(ConfigError, match="CERTIFICATE_UNTRUSTED") as caught:
            ask()
        assert caught.value.fact.endswith("is not to be trusted: self-signed certificate")
    registry.close()
    with pytest.raises(ConfigError, match="CA_FILE"):
        Server(served.url, ca_file=tmp_path / "absent.pem")


def test_a_browser_sends_its_cookie_over_tls_only(served: Home, made: Made) -> None:
    with httpx.Client(base_url=served.url, verify=trusting(made.certificate)) as browser:
        answer = browser.post("/login", data={"token": served.word})
        assert "Secure" in answer.headers["set-cookie"]
        assert browser.get("/api/v1/topics").status_code == 200


def test_files_that_do_not_do_are_named_before_the_server_begins(
    made: Made, tmp_path: Path
) -> None:
    other = make(tmp_path / "other")
    for certificate, key, code in (
        (tmp_path / "absent.pem", made.key, "TLS_FILE"),
        (made.certificate, tmp_path / "absent.key", "TLS_FILE"),
        (made.certificate, None, "TLS_FILE"),
        (made.key, made.certificate, "TLS_FILE"),
        (made.certificate, other.key, "TLS_KEY"),
        (made.certificate, made.locked, "TLS_KEY"),
    ):
        with pytest.raises(ConfigError, match=code):
            TlsFiles(certificate, key).context()
    with pytest.raises(ConfigError, match="TLS_FILE"):
        tls_files(None, made.key, {})


def test_the_files_may_stand_in_the_settings_beside_which_they_lie(tmp_path: Path) -> None:
    def said(text: str) -> TlsFiles | None:
        (tmp_path / "penstock.toml").write_text(text)
        return tls_files(None, None, load_settings(environment={}, directory=tmp_path).serve)

    found = said('[serve]\ntls_certificate = "a.pem"\ntls_key = "keys/a.key"\n')
    assert found == TlsFiles(tmp_path / "a.pem", tmp_path / "keys" / "a.key")
    option = tls_files(Path("b.pem"), None, {"tls_key": "a.key"})
    assert option == TlsFiles(Path("b.pem"))
    assert said("") is None
    with pytest.raises(ConfigError, match="CONFIG_KEY") as caught:
        said('[serve]\ntls_certificat = "a.pem"\n')
    assert caught.value.hint == 'Did you mean "tls_certificate"?'
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        said("[serve]\ntls_certificate = 1\n")


def test_the_word_of_a_home_is_shown_to_a_server_of_this_machine_only(tmp_path: Path) -> None:
    def shown(url: str) -> str:
        settings: Settings = load_settings({"home": str(tmp_path)}, environment={})
        return token_for(settings, {}, url)

    word = made_token(tmp_path)
    for url in ("http://127.0.0.1:1", "https://localhost", "http://[::1]:8080"):
        assert shown(url) == word
    for url in ("https://far.example", "http://127.0.0.1.far.example", "http://[::1", "http://"):
        assert not shown(url)
