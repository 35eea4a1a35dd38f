from __future__ import annotations

import hashlib
import hmac
import logging
import socket

import pytest

from penstock.clock import ManualClock
from penstock.connect.webhook import (
    MESSAGE_ID,
    SIGNATURE,
    WebhookSettings,
    post,
    webhook_settings,
)
from penstock.errors import ConfigError, DeliveryError
from tests.watch.http_server import HttpServer

BODY = b'{"a": 1}'
PLAIN = WebhookSettings()


def test_a_document_is_posted_as_json_with_its_id() -> None:
    with HttpServer() as server:
        post(f"{server.url}/hook", BODY, id="m1", settings=PLAIN)
    (posted,) = server.posted
    assert (posted.path, posted.json) == ("/hook", {"a": 1})
    assert posted.headers["Content-Type"] == "application/json"
    assert posted.headers[MESSAGE_ID] == "m1"
    assert SIGNATURE not in posted.headers


def test_who_knows_the_secret_can_tell_that_a_message_is_ours() -> None:
    settings = webhook_settings({"secret_env": "HOOK", "timeout": "2s"}, {"HOOK": "s3cret"})
    with HttpServer() as server:
        post(server.url, BODY, id="m", settings=settings, clock=ManualClock(5_000))
    expected = hmac.new(b"s3cret", b"5." + BODY, hashlib.sha256).hexdigest()
    assert server.posted[0].headers[SIGNATURE] == f"t=5,v1={expected}"


def test_a_token_goes_into_the_header_that_servers_look_for_it_in() -> None:
    with HttpServer() as server:
        post(server.url, BODY, id="m", settings=webhook_settings({"token_env": "T"}, {"T": "tok"}))
    assert server.posted[0].headers["Authorization"] == "Bearer tok"


@pytest.mark.parametrize(
    ("status", "code"),
    [(500, "WEBHOOK_UNREACHABLE"), (429, "WEBHOOK_UNREACHABLE"), (404, "WEBHOOK_REFUSED"),
     (302, "WEBHOOK_REFUSED")],
)  # fmt: skip
def test_an_answer_tells_whether_to_try_again(status: int, code: str) -> None:
    with HttpServer([status]) as server, pytest.raises(DeliveryError, match=code):
        post(f"{server.url}/t0ken", BODY, id="m", settings=PLAIN)


def test_nobody_there_is_told_without_the_address_and_its_token() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(DeliveryError, match="WEBHOOK_UNREACHABLE") as caught:
        post(f"http://127.0.0.1:{port}/t0ken", BODY, id="m", settings=PLAIN)
    assert "t0ken" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert f"http://127.0.0.1:{port}/..." in str(caught.value)


def test_no_log_of_any_library_holds_the_address(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with HttpServer([200, 404]) as server:
        post(f"{server.url}/t0ken", BODY, id="m", settings=PLAIN)
        with pytest.raises(DeliveryError):
            post(f"{server.url}/t0ken", BODY, id="m", settings=PLAIN)
    assert "t0ken" not in caplog.text


def test_an_address_that_is_none_is_told_in_the_same_way() -> None:
    for url in ("http://[::bad/x", "file:///etc/hosts", ""):
        with pytest.raises(DeliveryError, match="WEBHOOK_UNREACHABLE"):
            post(url, BODY, id="m", settings=PLAIN)


def test_settings_that_do_not_exist_and_secrets_in_them_are_refused() -> None:
    with pytest.raises(ConfigError, match="WEBHOOK_SETTINGS"):
        webhook_settings({"secert_env": "X"})
    with pytest.raises(ConfigError, match="SECRET_WRITTEN") as caught:
        webhook_settings({"secret": "s3cret"})
    assert "s3cret" not in str(caught.value)
    with pytest.raises(ConfigError, match="SECRET_MISSING"):
        webhook_settings({"secret_env": "NOT_SET"}, {})


def test_no_secret_is_shown_by_what_holds_it() -> None:
    assert "s3cret" not in repr(WebhookSettings(secret="s3cret", token="s3cret"))
