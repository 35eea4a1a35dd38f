"""The tokens of a home: who may ask its server, and what. Kept hashed, for their owner's eyes.

A token is 256 random bits, so its hash needs no salt and no slow function: nobody can try them.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penstock.clock import SYSTEM_CLOCK, Clock
from penstock.errors import ConfigError, UsageError, did_you_mean
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.refusals import coded_storage_errors
from penstock.log.remote.server_token import HOME_TOKEN, read_token
from penstock.serve.access.asker import Asker
from penstock.serve.access.role import Role

FOLDER = "server"
_NAME = "tokens.json"
_LOCK = "tokens.lock"
_PATIENCE = 5.0
_PREFIX = "pst_"
"""What a token begins with, so that it is found where one was written down by mistake."""
_NAMES = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_OWNER = "home"
"""The name of who shows the word that only readers of the home know."""

Stamp: TypeAlias = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token; `created` is in milliseconds since 1970."""

    name: str
    role: Role
    digest: str
    created: int


class TokenFile:
    """The tokens of a home; what another process changes holds from the next request on."""

    def __init__(self, home: Path, *, clock: Clock = SYSTEM_CLOCK) -> None:
        self._home = home
        self._folder = home / FOLDER
        self._clock = clock
        self._seen: Stamp = None
        self._tokens: tuple[Token, ...] = ()
        self._owner_seen: Stamp = None
        self._owner = ""

    def tokens(self) -> tuple[Token, ...]:
        """Give what is kept of all tokens, the oldest first."""
        path = self._folder / _NAME
        stamp = _stamp(path)
        if stamp != self._seen:
            self._tokens = () if stamp is None else _read(path)
            self._seen = stamp
        return self._tokens

    def create(self, name: str, role: Role) -> str:
        """Make a token and give it: this is the only time that it can be seen."""
        if not _NAMES.fullmatch(name):
            raise UsageError(
                "TOKEN_NAME",
                f'"{name}" cannot be the name of a token',
                hint="Use at most 64 letters, digits, dots, dashes and underscores.",
            )
        word = _PREFIX + secrets.token_urlsafe(32)
        with self._changing() as before:
            if name == _OWNER or any(token.name == name for token in before):
                raise UsageError(
                    "TOKEN_EXISTS",
                    f'there is a token "{name}"',
                    hint="Give this one another name, or revoke that one first.",
                )
            made = Token(name, role, digest_of(word), self._clock.now())
            self._write([*before, made])
        return word

    def revoke(self, name: str) -> Token:
        """Let a token hold no longer."""
        with self._changing() as before:
            found = next((token for token in before if token.name == name), None)
            if found is None:
                known = [token.name for token in before]
                raise UsageError(
                    "TOKEN_MISSING",
                    f'there is no token "{name}"',
                    hint=did_you_mean(name, known)
                    or "`penstock serve token list` shows those that are there.",
                )
            self._write([token for token in before if token is not found])
        return found

    def asker(self, word: str) -> Asker | None:
        """Give who has a token; none for a word that is no token."""
        digest = digest_of(word)
        # All are compared, so that the time tells nothing.
        found = [one for one in self._known() if hmac.compare_digest(one.digest, digest)]
        return Asker(found[0].name, found[0].role) if found else None

    def named(self, name: str) -> Token | None:
        """Give what is kept of the token of a name."""
        return next((token for token in self._known() if token.name == name), None)

    def _known(self) -> Iterator[Token]:
        yield from self.tokens()
        stamp = _stamp(self._home / HOME_TOKEN)
        if stamp != self._owner_seen:
            self._owner, self._owner_seen = read_token(self._home), stamp
        if self._owner:
            yield Token(_OWNER, Role.ADMIN, digest_of(self._owner), 0)

    @contextmanager
    def _changing(self) -> Iterator[tuple[Token, ...]]:
        storage = DiskStorage(self._folder)
        with coded_storage_errors("changing the tokens of a server"):
            storage.make_directory("")
            lock = storage.lock(_LOCK)
            try:
                if not lock.acquire(_PATIENCE):
                    raise ConfigError(
                        "TOKENS_BUSY",
                        "another process changes the tokens of this home",
                        hint="Try again in a moment.",
                    )
                self._seen = None
                yield self.tokens()
            finally:
                lock.close()

    def _write(self, tokens: Sequence[Token]) -> None:
        rows = [
            {
                "name": token.name,
                "role": token.role.name.lower(),
                "sha256": token.digest,
                "created": token.created,
            }
            for token in tokens
        ]
        _replace(self._folder / _NAME, json.dumps(rows, indent=1).encode())
        self._seen = None


def digest_of(word: str) -> str:
    """Give what is kept of a token."""
    return hashlib.sha256(word.encode()).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    """Put data in the place of a file, readable by its owner only and never half there."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(path)


def _read(path: Path) -> tuple[Token, ...]:
    try:
        rows = json.loads(path.read_bytes())
        return tuple(map(_token, rows))
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        # To take it for empty would let everybody in.
        raise ConfigError(
            "TOKENS_UNREADABLE",
            f'the tokens in "{path}" cannot be read: {type(error).__name__}',
            hint="Restore the file; or remove it, and make new tokens.",
        ) from error


def _token(row: dict[str, object]) -> Token:
    role = Role[str(row["role"]).upper()]
    return Token(str(row["name"]), role, str(row["sha256"]), int(str(row["created"])))


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
