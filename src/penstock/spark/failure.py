"""What went wrong in a Spark query, in one line: the root cause, not the Java around it."""

from __future__ import annotations

import re

from pyspark.errors import PySparkException

from penstock.errors import RunError

_FRAME = re.compile(r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+)', re.MULTILINE)
_RAISED = re.compile(r"^(?P<kind>[A-Za-z_][\w.]*): ?(?P<text>.*)$")
_OURS = re.compile(r"^\[(?P<code>[A-Z][A-Z0-9_]+)\] (?P<fact>.*)$")
_JAVA = re.compile(r"^\s*(?:at |\.\.\. \d+ more|Caused by: |JVM stacktrace)")
_SPARK_CONDITION = re.compile(r"^\[[A-Z][A-Z0-9_.]+\] ")
_NOT_THE_USER = ("/pyspark/", "/penstock/", "/py4j/", "/cloudpickle/", "<frozen", "<string>")
_TRACEBACK = "Traceback (most recent call last):"
_NO_READER = "UnboundLocalError: cannot access local variable 'reader'"
_JAVA_RAISED = re.compile(r"^(?:Caused by)?: (?:[\w.$]+: )?(?P<text>.+)$")
_SQL_STATE = re.compile(r"\s*SQLSTATE: \w+\s*$")
_DEEPEST = 20


def run_error(error: BaseException) -> RunError:
    """Turn what Spark raised into an error of ours; the original stays for `--debug`."""
    text = _whole_text(error)
    before, found, traceback = text.rpartition(_TRACEBACK)
    if _NO_READER in traceback and _TRACEBACK in before:
        # Spark stops a reader that was never made, and so hides why it was not.
        _, _, traceback = before.rpartition(_TRACEBACK)
    if found:
        return _from_python(traceback)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    cause = next((line for line in lines if not _JAVA.match(line)), type(error).__name__)
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: {_SPARK_CONDITION.sub('', cause)}",
        hint="Run again with --debug to see where in Spark.",
    )


def _whole_text(error: BaseException) -> str:
    """The texts of an error and of its causes, the first cause last."""
    if not isinstance(error, PySparkException):
        return str(error)
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < _DEEPEST:
        parts.append(str(getattr(seen, "_desc", None) or seen))
        seen = getattr(seen, "_cause", None)
    return "\n".join(reversed(parts)) if _TRACEBACK not in parts[0] else parts[0]


def _from_python(traceback: str) -> RunError:
    lines = traceback.splitlines()
    # The exception is the first line that is not indented: frames and source are.
    at = next((n for n, line in enumerate(lines) if _RAISED.match(line)), None)
    if at is None:
        return RunError("SPARK_QUERY_FAILED", "the query stopped in Python", hint="Use --debug.")
    raised = _RAISED.match(lines[at])
    assert raised is not None
    kind, text = raised["kind"].rpartition(".")[2], raised["text"].strip()
    if kind == "Py4JJavaError":
        return _from_java(lines[at + 1 :])
    ours = _OURS.match(text)
    hint = lines[at + 1].strip() if ours and at + 1 < len(lines) else ""
    fact = text if ours else f"{kind}: {text}" if text else kind
    place = _user_place("\n".join(lines[:at]))
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: {fact}{place}",
        hint="" if _JAVA.match(hint) else hint,
    )


def _from_java(lines: list[str]) -> RunError:
    """Tell what Java raised while Python waited for it, and the cause of it."""
    told = [match["text"] for line in lines if (match := _JAVA_RAISED.match(line))]
    facts = dict.fromkeys(_SQL_STATE.sub("", _SPARK_CONDITION.sub("", text)) for text in told)
    ends = [fact for number, fact in enumerate(facts) if number in (0, len(facts) - 1)]
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: {' '.join(ends) or 'Spark failed'}",
        hint="Run again with --debug to see where in Spark.",
    )


def _user_place(frames: str) -> str:
    """The last line of the user's own code that Python was in."""
    found = [(match["file"], match["line"]) for match in _FRAME.finditer(frames)]
    own = [(file, line) for file, line in found if not any(part in file for part in _NOT_THE_USER)]
    return f" ({own[-1][0]}:{own[-1][1]})" if own else ""
