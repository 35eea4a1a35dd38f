"""Statements answered by a server (`penstock sql serve`), as a session here answers them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.errors import SqlError
from penstock.log.remote.server_token import is_here, read_token
from penstock.log.remote.trust import trusting, untrusted
from penstock.sql.answer import Answer
from penstock.sql.answer_line import answers_of

_TIMEOUT = 60.0
_UNKNOWN_ASKERS = (401, 403)


class RemoteSession:
    """Asks a server; settings and variables are this session's and go along with every text."""

    def __init__(
        self, url: str, home: Path, *, token: str = "", ca_file: Path | None = None
    ) -> None:
        self._url = url.rstrip("/")
        # The word of a home opens all of it: it is for nobody elsewhere.
        self._token = token or (read_token(home) if is_here(url) else "")
        self._trusted = trusting(ca_file) if url.startswith("https:") else None
        self.settings: dict[str, str] = {}
        self.variables: dict[str, str] = {}
        self._words: tuple[str, ...] | None = None

    def run(self, text: str) -> Iterator[Answer]:
        """Carry out the statements of a text; the first that is refused ends it."""
        body = {"sql": text, "settings": self.settings, "variables": self.variables}
        self._words = None
        told: dict[str, Any] = {}
        with self._asked("/sql", json.dumps(body).encode()) as lines:
            try:
                yield from answers_of(lines, told)
            except (OSError, ValueError) as error:
                raise self._silent(str(error)) from error
        self.settings, self.variables = told["settings"], told["variables"]

    def catch_up(self) -> None:
        """Do nothing: the queries run at the server's."""

    def follow_queries(self) -> Mapping[str, BaseException]:
        """Give nothing: the server tells of its own queries."""
        return {}

    def words(self) -> tuple[str, ...]:
        """Give the words that statements may have, asked for once between statements."""
        if self._words is None:
            with self._asked("/sql/words") as lines:
                self._words = tuple(json.loads(b"".join(lines)))
        return self._words

    def close(self) -> None:
        """Do nothing: each text is a connection of its own."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _asked(self, path: str, body: bytes | None = None) -> Any:  # noqa: ANN401  # lines of bytes
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(self._url + path, body, headers)  # noqa: S310  # the user's
        try:
            return urllib.request.urlopen(  # noqa: S310  # the user's address
                request, timeout=_TIMEOUT, context=self._trusted
            )
        except urllib.error.HTTPError as error:
            if error.code in _UNKNOWN_ASKERS:
                raise SqlError(
                    "SQL_SERVER",
                    f'the server at "{self._url}" does not know the token of this home',
                    hint="Name the server's own home with --home, or give its token.",
                ) from error
            raise self._silent(f"{error.code} {error.reason}") from error
        except (OSError, ValueError) as error:
            raise untrusted(self._url, error) or self._silent(str(error)) from error

    def _silent(self, reason: str) -> SqlError:
        return SqlError(
            "SQL_SERVER",
            f'the server at "{self._url}" did not answer: {reason}',
            hint="Start one with `penstock serve`, or `penstock sql serve`, and give its address.",
        )
