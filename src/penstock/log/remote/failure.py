"""An error on its way over a socket: raised at the client as the class it was in the server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.errors import LogError, PenstockError


def encode_failure(error: PenstockError) -> dict[str, str]:
    """Give an error as a JSON object."""
    return {
        "class": type(error).__name__,
        "code": error.code,
        "fact": error.fact,
        "hint": error.hint,
    }


def decode_failure(document: Mapping[str, str]) -> PenstockError:
    """Give the error again; a class that this release does not have becomes a LogError."""
    kinds = {kind.__name__: kind for kind in _below(PenstockError)}
    kind = kinds.get(document["class"], LogError)
    return kind(document["code"], document["fact"], hint=document["hint"])


def server_failure(method: str, error: Exception) -> LogError:
    """The error of a request that failed in a way nobody foresaw."""
    return LogError(
        "LOG_SERVER_FAILED",
        f'"{method}" failed in the log\'s server: {type(error).__name__}: {error}',
        hint="Run the same release of Penstock at both ends; else this is a defect of Penstock.",
    )


def _below(kind: type[PenstockError]) -> Iterator[type[PenstockError]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _below(narrower)
