"""Questions to a registry over HTTP: asked again where that helps, refused in its own words."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import httpx

from penstock.errors import ConfigError, RegistryError
from penstock.log.remote.trust import trusting, untrusted
from penstock.schema.registry.refusals import REST_CODES

Answer: TypeAlias = Any
"""What the JSON of an answer holds."""

_JSON = "application/vnd.schemaregistry.v1+json"
_HEADERS = {"Accept": f"{_JSON}, application/vnd.schemaregistry+json, application/json"}
_FAILING = frozenset({408, 429, 500, 502, 503, 504})
_FIRST_ERROR = 400
_CONFLICT = 409
_BY_NUMBER = {
    told.number: code for code, told in REST_CODES.items() if told.status not in _FAILING
} | {_CONFLICT: "SCHEMA_INCOMPATIBLE"}


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a question is asked again that found nobody, or a server in trouble."""

    times: int = 3
    first_pause: float = 0.1
    longest_pause: float = 2.0
    sleep: Callable[[float], None] = time.sleep


class Exchange:
    """A connection to a registry; one question at a time is not asked of its user."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        retry: Retry,
        token: str = "",
        ca_file: Path | None = None,
    ) -> None:
        self._url = _checked(url)
        self._retry = retry
        self._client = httpx.Client(
            base_url=self._url.copy_with(username=None, password=None),
            auth=(self._url.username, self._url.password) if self._url.username else None,
            timeout=timeout,
            verify=True if ca_file is None else trusting(ca_file),
            headers=_HEADERS | ({"Authorization": f"Bearer {token}"} if token else {}),
        )

    def ask(
        self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> Answer:
        """Ask, and give what the answer holds; what goes wrong is a `RegistryError`."""
        response = self._response(method, path, query, body)
        if response.is_success and not response.content:
            return None
        try:
            found = response.json()
        except ValueError:
            raise self._no_registry(f"answered {response.status_code} without JSON") from None
        if response.status_code >= _FIRST_ERROR:
            raise self._refusal(response.status_code, found)
        return found

    def close(self) -> None:
        """Hang up; closing twice is harmless."""
        self._client.close()

    def _response(
        self, method: str, path: str, query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> httpx.Response:
        """Ask until somebody answers who is not in trouble; all questions may be asked twice."""
        headers = {} if body is None else {"Content-Type": _JSON}
        for attempt in range(self._retry.times + 1):
            last = attempt == self._retry.times
            try:
                response = self._client.request(
                    method, path, params=dict(query), json=body, headers=headers
                )
            except httpx.HTTPError as error:
                refused = untrusted(self._shown, error)
                if refused or last:
                    why = f"{type(error).__name__}: {error}"
                    raise refused or self._no_registry(why) from error
            else:
                if last or response.status_code not in _FAILING:
                    return response
            longest = min(self._retry.first_pause * 2**attempt, self._retry.longest_pause)
            self._retry.sleep(longest * random.random())  # no secret
        raise self._no_registry("did not answer")

    def _refusal(self, status: int, found: Answer) -> RegistryError:
        number = found.get("error_code", status) if isinstance(found, dict) else status
        message = found.get("message", "") if isinstance(found, dict) else str(found)
        fact = f"the registry refused with {number}: {message}"
        hint = f"Look at the registry at {self._shown}."
        return refusal_of(number, status, fact, hint)

    def _no_registry(self, why: str) -> RegistryError:
        return RegistryError(
            "REGISTRY_UNREACHABLE",
            f"the registry at {self._shown} {why}",
            hint="Check registry.url, and that the registry runs.",
        )

    @property
    def _shown(self) -> str:
        return str(self._url.copy_with(username=None, password=None))


def refusal_of(number: int, status: int, fact: str, hint: str) -> RegistryError:
    """Give the error that a registry's number stands for."""
    known = _BY_NUMBER.get(number)
    if known is None and status in {401, 403}:
        return RegistryError(
            "REGISTRY_DENIED", f"{fact}", hint="Give the name and password in registry.url."
        )
    error = RegistryError("REGISTRY_FAILED", f"{fact}", hint=hint)
    if known is not None:
        error.code = known
    return error


def _checked(url: str) -> httpx.URL:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in {"http", "https"} or not parsed.host:
        raise ConfigError(
            "REGISTRY_URL",
            f'"{url}" is no address of a registry',
            hint="Write it as http://host:8081, or leave registry.url out for the one in the log.",
        )
    return parsed
