"""The log of a server: one JSON document a line, to a file of the home or to a stream.

It has no query values, no headers and no bodies: any of them may be a secret.
"""

from __future__ import annotations

import logging
import logging.handlers
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from typing_extensions import override

from penstock.log.embedded.refusals import coded_storage_errors

LOGGER = "penstock.serve"
_MOST_BYTES = 10_000_000
_KEPT = 3
_log = logging.getLogger(LOGGER)


def log_request(**told: Any) -> None:  # noqa: ANN401  # whatever JSON has
    """Write a line of a request."""
    _log.info("request", extra={"told": told})


def log_warning(event: str, **told: Any) -> None:  # noqa: ANN401  # whatever JSON has
    """Write a line of something that an operator should know."""
    _log.warning(event, extra={"told": told})


@contextmanager
def written_log(path: Path | None) -> Iterator[None]:
    """Write the log to a file that never grows large, or to stderr, for a with block."""
    with coded_storage_errors("opening the log of the server"):
        handler = logging.StreamHandler() if path is None else _file(path)
    handler.setFormatter(_Lines())
    before = (_log.level, _log.propagate)
    _log.addHandler(handler)
    _log.setLevel(logging.INFO)
    _log.propagate = False
    try:
        yield
    finally:
        _log.removeHandler(handler)
        _log.level, _log.propagate = before
        handler.close()


def _file(path: Path) -> logging.Handler:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    return logging.handlers.RotatingFileHandler(path, maxBytes=_MOST_BYTES, backupCount=_KEPT)


class _Lines(logging.Formatter):
    """Gives a record as one line of JSON."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"at": at, "level": record.levelname.lower()}
        told = getattr(record, "told", None)
        line |= {"event": record.getMessage()} | (told or {})
        if record.exc_info and record.exc_info[1] is not None:
            line["trace"] = "".join(traceback.format_exception(record.exc_info[1]))
        return orjson.dumps(line, default=str).decode()
