"""The shipped failpoints of a program with one level, under the names that tests know them by."""

from __future__ import annotations

from penstock.spark.failpoints import FAILING, STAGING, commit_steps

FAULTY = FAILING
PROGRAM_STEPS = tuple(step for step in commit_steps(1) if step != STAGING)
