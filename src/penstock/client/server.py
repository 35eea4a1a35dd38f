"""A server that is asked over HTTP: its answers, or its refusals as the errors they were."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx

from penstock.config import Settings
from penstock.errors import PenstockError, SetupError
from penstock.log.remote.failure import decode_failure
from penstock.log.remote.server_token import token_for
from penstock.log.remote.trust import trusting, untrusted
from penstock.log.remote.web_log import other_server, token_hint

_API = "/api/v1"
_SECONDS = 60.0
_TOKENS = ("TOKEN_NEEDED", "TOKEN_WRONG")
_PAGE = 1000


class Server:
    """Asks the API of a server; who it is for says its token.

    The certificate of `https://` is to be one that the system or `ca_file` trusts.
    """

    def __init__(self, url: str, token: str = "", *, ca_file: Path | None = None) -> None:
        self.url = url.rstrip("/")
        self.token = token
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # To read what the system trusts takes time that plain HTTP need not pay.
        trusted = trusting(ca_file) if self.url.startswith("https:") else False
        self._http = httpx.Client(
            headers=headers, timeout=_SECONDS, trust_env=False, verify=trusted
        )

    def get(self, path: str, **parameters: object) -> Any:  # noqa: ANN401  # what JSON holds
        """Ask for something."""
        return self._asked("GET", path, parameters=parameters).json()

    def items(self, path: str, **parameters: object) -> list[Any]:
        """Ask for all pages of a list."""
        found: list[Any] = []
        after: dict[str, object] = {}
        while True:
            page = self.get(path, limit=_PAGE, **parameters, **after)
            found += page["items"]
            if page["next"] is None:
                return found
            after = {"after": page["next"]}

    def post(self, path: str, body: object = None) -> Any:  # noqa: ANN401  # what JSON holds
        """Ask that something be done."""
        return self._asked("POST", path, body=body).json()

    def post_for_bytes(self, path: str, body: object = None) -> bytes:
        """Ask that something be made, and give it."""
        return self._asked("POST", path, body=body).content

    def delete(self, path: str, **parameters: object) -> Any:  # noqa: ANN401  # what JSON holds
        """Ask that something be removed."""
        return self._asked("DELETE", path, parameters=parameters).json()

    def text(self, path: str) -> str:
        """Give a text that stands beside the API."""
        return self._sent("GET", f"{self.url}{path}").text

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _asked(
        self,
        method: str,
        path: str,
        *,
        parameters: Mapping[str, object] | None = None,
        body: object = None,
    ) -> httpx.Response:
        said = {name: value for name, value in (parameters or {}).items() if value is not None}
        return self._sent(method, f"{self.url}{_API}{path}", params=said, json=body)

    def _sent(self, method: str, url: str, **what: Any) -> httpx.Response:  # noqa: ANN401  # as httpx
        try:
            answer = self._http.request(method, url, **what)
        except httpx.InvalidURL as error:
            raise other_server(self.url) from error
        except httpx.TransportError as error:
            raise _away(self.url, error) from error
        if answer.is_success:
            return answer
        raise _refusal(self.url, answer)


def server_of(settings: Settings, environment: Mapping[str, str]) -> Server:
    """Give the server of the settings, with the token that is to be had."""
    token = token_for(settings, environment, settings.server)
    return Server(settings.server, token, ca_file=settings.ca_file)


def _refusal(url: str, answer: httpx.Response) -> PenstockError:
    try:
        told = answer.json()
        code, hint = str(told["code"]), str(told["hint"])
        document = {
            "class": str(told.get("class", "RequestError")),
            "code": code,
            "fact": str(told["detail"]),
            "hint": token_hint(hint) if code in _TOKENS else hint,
        }
    except (ValueError, KeyError, TypeError):
        return other_server(url)
    return decode_failure(document)


def _away(url: str, error: httpx.TransportError) -> PenstockError:
    return untrusted(url, error) or SetupError(
        "SERVER_AWAY",
        f'no server answers at "{url}": {error}',
        hint="Start it with `penstock serve`, or correct --server (PENSTOCK_SERVER).",
    )
