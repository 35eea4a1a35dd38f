"""The shipped failpoints under the names that tests know them by."""

from __future__ import annotations

from penstock.spark.failpoints import (
    BEFORE_OFFSETS,
    FAILING,
    FailingFormat,
    FailingLevel,
    FailingReader,
    FailingSink,
    commit_steps,
)

COMMIT_STEPS = commit_steps(2)
STOPPING = FAILING
StoppingFormat = FailingFormat
StoppingLevel = FailingLevel
StoppingReader = FailingReader
StoppingSink = FailingSink

__all__ = [
    "BEFORE_OFFSETS",
    "COMMIT_STEPS",
    "STOPPING",
    "StoppingFormat",
    "StoppingLevel",
    "StoppingReader",
    "StoppingSink",
]
