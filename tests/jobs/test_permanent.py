from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.errors import PlanError, RunError, StorageError, TopicError
from penstock.jobs import permanent
from penstock.jobs.cause import cause_of, cause_told
from penstock.jobs.permanent import is_permanent
from penstock.spark.failure import run_error

PROJECT = Path(__file__).resolve().parents[2]


def in_spark(raised: str) -> RunError:
    """What becomes of an error in a batch."""
    frames = 'Traceback (most recent call last):\n  File "/home/me/shop.py", line 12, in price\n'
    return run_error(RuntimeError(f"{frames}{raised}\n"))


@pytest.mark.parametrize(
    "error",
    [
        PlanError("PLAN_LOOP", "it reads what it writes"),
        TopicError("TOPIC_MISSING", "it is gone"),
        in_spark("penstock.errors.TopicError: [TOPIC_MISSING] topic is gone"),
        in_spark("penstock.errors.StateError: [STATE_UNREADABLE] state is damaged"),
        in_spark("penstock.errors.RunError: [PROGRESS_MISMATCH] not the batch"),
        in_spark("penstock.errors.OffsetError: [OFFSET_EXPIRED] too late"),
        in_spark("penstock.errors.CorruptionError: [HEAD_CORRUPT] not what was written"),
        in_spark("TypeError: unsupported operand"),
        ModuleNotFoundError("No module named 'prices'"),
    ],
)
def test_what_would_come_again_is_permanent(error: Exception) -> None:
    assert is_permanent(cause_of(error))
    assert is_permanent(cause_told(f"{type(error).__name__}: {error}"))
    told = f"the worker stopped: {cause_of(error).line}"
    assert is_permanent(cause_of(RunError("WORKER_FAILED", told)))


@pytest.mark.parametrize(
    "error",
    [
        StorageError("DISK_FULL", "no room"),
        StorageError("STORAGE_FAILED", "the disk failed"),
        in_spark("penstock.errors.StorageError: [DISK_FULL] no room"),
        in_spark("penstock.errors.StoreError: [STORE_FAILED] out of reach"),
        in_spark("penstock.errors.RegistryError: [REGISTRY_UNREACHABLE] no answer"),
        in_spark("ConnectionRefusedError: [Errno 111] Connection refused"),
        in_spark("ValueError: whatever it asked for"),
        run_error(RuntimeError("An error occurred while calling o33: Java has died")),
        RunError("WORKER_LOST", "worker 12 was ended by signal 9"),
        ConnectionResetError("gone"),
        MemoryError(),
    ],
)
def test_what_may_pass_is_tried_again(error: Exception) -> None:
    assert not is_permanent(cause_of(error))


def test_the_cause_is_one_line_with_the_users_file_and_line() -> None:
    cause = cause_of(in_spark("TypeError: unsupported operand"))
    assert cause.reason == "TypeError"
    assert cause.line == (
        "[SPARK_QUERY_FAILED] the query stopped: TypeError: unsupported operand"
        " (/home/me/shop.py:12)"
    )
    try:
        int("x\ny")
    except ValueError as error:
        told = cause_of(error)
    assert told.reason == "ValueError"
    assert told.line.startswith("ValueError: invalid literal")
    assert f"({__file__}:" in told.line


def test_the_table_names_codes_that_there_are() -> None:
    table = (PROJECT / "docs/errors.md").read_text()
    listed = set(re.findall(r"^\| ([A-Z0-9_]+) \|", table, re.MULTILINE))
    assert (permanent._CODES | permanent._PASSING) - listed == set()
    families = permanent._FAMILIES
    assert [one for one in families if not any(code.startswith(one) for code in listed)] == []
