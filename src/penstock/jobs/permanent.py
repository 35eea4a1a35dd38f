"""Which failures come again whenever a job is started again: those are not tried again.

What is not named here may pass: a full disk, a database or registry out of reach, a dead process
of Spark, and what a function of the user's own raises because of what it asks for elsewhere.
"""

from __future__ import annotations

from penstock.jobs.cause import Cause

_FAMILIES = (
    # A program that contradicts itself, or cannot be run as it is written.
    "AGGREGATE_",
    "COLUMN_",
    "EXPRESSION_",
    "FILES_",
    "FORMAT_",
    "FUNCTION_",
    "JOIN_",
    "PATTERN_",
    "PLAN_",
    "PROCESS_",
    "PROGRAM_",
    "SQL_",
    "STATIC_",
    "STEP_",
    "TIMER_",
    "TRIGGER_",
    "UNION_",
    "WINDOW_",
    # What it remembers is of another program, or damaged.
    "CHECKPOINT_",
    "SNAPSHOT_",
    "STATE_",
    # Rows and columns that do not fit.
    "SCHEMA_",
    # The machine.
    "CONFIG_",
    "JAVA_",
    "PACKAGE_",
)
_CODES = frozenset(
    {
        "CHANGELOG_NEGATIVE",
        "EXPECTATION_FAILED",
        "FRAME_VERSION",
        "INPUT_SCHEMA",
        "JOB_FILE_BROKEN",
        "JOB_MISSING",
        "JOB_UNREADABLE",
        "JOB_VERSION",
        "LOG_NEWER",
        "NOT_A_LOG",
        "OFFSET_EXPIRED",
        "OFFSET_RANGE",
        "OUTPUT_SCHEMA",
        "PARALLELISM",
        "PARTITIONS_FIXED",
        "PROGRESS_MISMATCH",
        "PYTHON_TOO_OLD",
        "REPLAY_DIFFERS",
        "RESULT_COLUMN",
        "SPLIT_UNREADABLE",
        "STORE_ARGUMENT",
        "STORE_COLUMNS",
        "STORE_DRIVER",
        "TABLE_KEY",
        "TOPIC_DIFFERS",
        "TOPIC_MISSING",
        "TOPIC_NAME",
        "TOPIC_REPLACED",
        "TOPIC_UNTYPED",
        "VALUE_TYPE",
        "VALUE_UNREADABLE",
    }
)
_CORRUPT = "_CORRUPT"
_PASSING = frozenset(
    {
        # The user's own function raised something, which may lie at what it asked.
        "AGGREGATE_FAILED",
        "FUNCTION_FAILED",
        # Others are at work.
        "SQL_CATALOG_BUSY",
        "SQL_REGISTRY",
        "SQL_SERVER",
    }
)
_DEFECTS = frozenset(
    {
        "AttributeError",
        "ImportError",
        "IndentationError",
        "ModuleNotFoundError",
        "NameError",
        "NotImplementedError",
        "PicklingError",
        "SyntaxError",
        "TypeError",
        "UnboundLocalError",
        "UnpicklingError",
    }
)
"""What Python raises for code that is wrong whatever the rows are."""


def is_permanent(cause: Cause) -> bool:
    """Say whether a failure would come again however often the job is started."""
    reason = cause.reason
    if reason in _PASSING:
        return False
    return (
        reason in _CODES
        or reason in _DEFECTS
        or reason.endswith(_CORRUPT)
        or reason.startswith(_FAMILIES)
    )
