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
_CAUSED = re.compile(
    r"^(?:An error occurred while calling \S+)?(?:Caused by)?:? ?(?:[\w.$]+(?:Exception|Error): )+"
)
_DEEPEST = 20
_LONGEST = 300
_FULL = re.compile(r"(?P<said>No space left on device|Disk quota exceeded)")
_PATH = re.compile(
    r"(?:file:)?(?P<path>/[^\s:'\",()]*/(?:offsets|commits|state|memory|inherited|staging)/[^\s:'\",()]+)"
)
# What Spark says of its own files: of its store of states, of its logs, of what is compressed.
_BROKEN = re.compile(
    r"\[CANNOT_LOAD_STATE_STORE[.\]]|\[STATE_STORE_|\[CANNOT_READ_STREAMING_STATE"
    r"|Stream is corrupted|Incomplete log file|Log file was malformed|Failed to parse"
    r"|ZipException|Corruption: |java\.io\.EOFException|\[FAILED_READ_FILE"
    r"|batch -?\d+ doesn't exist|Error reading streaming state file"
    r"|does not exist: .*/(?:spark|state)/|InvalidProtocolBuffer|FileAlreadyExistsException"
    r"|Json(?:EOF|Parse)Exception|MappingException|Malformed streaming|delta file .* does not exist"
)


def run_error(error: BaseException) -> RunError:
    """Turn what Spark raised into an error of ours; the original stays for `--debug`."""
    text = _whole_text(error)
    before, found, traceback = text.rpartition(_TRACEBACK)
    if _NO_READER in traceback and _TRACEBACK in before:
        # Spark stops a reader that was never made, and so hides why it was not.
        _, _, traceback = before.rpartition(_TRACEBACK)
    if found:
        return _from_python(traceback)
    known = _known(text)
    if known is not None:
        return known
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    cause = next((line for line in lines if not _JAVA.match(line)), type(error).__name__)
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: {_SPARK_CONDITION.sub('', cause)}",
        hint="Run again with --debug to see where in Spark.",
    )


def _known(text: str) -> RunError | None:
    """Tell what Java says of a disk that is full or of a checkpoint that is damaged."""
    full = _FULL.search(text)
    if full is not None:
        return _disk_full(f"{full['said']}{_path(text, full.start())}")
    broken = _BROKEN.search(text)
    if broken is None:
        return None
    line = text[text.rfind("\n", 0, broken.start()) + 1 :].splitlines()[0].strip()
    said = _SQL_STATE.sub("", _SPARK_CONDITION.sub("", _CAUSED.sub("", line)))[:_LONGEST]
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: [CHECKPOINT_BROKEN] a file of the checkpoint is missing or is not"
        f" what Spark wrote: {said}{_path(text, broken.start())}",
        hint="Restore the job from a savepoint, or rewind it.",
    )


def _disk_full(said: str) -> RunError:
    return RunError(
        "SPARK_QUERY_FAILED",
        f"the query stopped: [DISK_FULL] {said}",
        hint="Free some space and start it again; what was visible stays, and nothing is lost.",
    )


def _path(text: str, at: int) -> str:
    """The file that is named nearest to a place in a text."""
    found = min(_PATH.finditer(text), key=lambda match: abs(match.start() - at), default=None)
    return "" if found is None or abs(found.start() - at) > _LONGEST else f' ("{found["path"]}")'


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
        return _known("\n".join(lines[at:])) or _from_java(lines[at + 1 :])
    if kind == "OSError" and _FULL.search(text):
        return _disk_full(text)
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
