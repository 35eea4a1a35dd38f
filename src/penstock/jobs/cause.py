"""Why something failed, in one line: the code and the fact, or what was raised, and where."""

from __future__ import annotations

import re
import traceback
from typing import NamedTuple

from penstock.errors import PenstockError

_NOT_THE_USER = ("/penstock/", "/pyspark/", "/py4j/", "/cloudpickle/", "<frozen", "<string>")
_TOLD = re.compile(r"^(?:\w+: )?\[(?P<code>[A-Z][A-Z0-9_]+)\] (?P<fact>.*)$")
_INNER = re.compile(r"^(?:\w+: )?(?:\[(?P<code>[A-Z][A-Z0-9_]+)\]|(?P<kind>[A-Za-z]\w+)(?::|$))")
_AROUND = {"SPARK_QUERY_FAILED": "the query stopped: ", "WORKER_FAILED": "the worker stopped: "}
"""Codes that stand around another, and the words before it."""


class Cause(NamedTuple):
    """What went wrong: a code of ours, or the name of the exception, and the line to show."""

    reason: str
    line: str


def cause_of(error: BaseException) -> Cause:
    """Give the cause of a failure; what Spark put around it is taken off the reason."""
    if isinstance(error, PenstockError):
        return Cause(_reason(error.code, error.fact), f"[{error.code}] {_first_line(error.fact)}")
    kind = type(error).__name__
    text = _first_line(str(error))
    return Cause(kind, f"{kind}: {text}{_place(error)}" if text else f"{kind}{_place(error)}")


def cause_told(failure: str) -> Cause:
    """Give the cause that the record of a run tells."""
    line = _first_line(failure)
    told = _TOLD.match(line)
    if told is None:
        return Cause(line.partition(":")[0], line)
    return Cause(_reason(told["code"], told["fact"]), line)


def _reason(code: str, fact: str) -> str:
    words = _AROUND.get(code)
    if words is None or not fact.startswith(words):
        return code
    inner = fact.removeprefix(words)
    found = _INNER.match(inner)
    if found is None:
        return code
    return _reason(found["code"], inner[found.end() :].strip()) if found["code"] else found["kind"]


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _place(error: BaseException) -> str:
    """The last line of the user's own code that Python was in."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not any(part in frame.filename for part in _NOT_THE_USER)]
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""
