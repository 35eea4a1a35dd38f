"""The facts about joins, each kind with its check.

`python -m tests.conformance.joins FILE.json [--engine driver|spark] [--json OUT]`

Where a published trace holds records that change nothing, or cannot take a row back, both
sides are reduced to what they change: `joins_changes` says which, and how.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conformance.engines import on_engine
from tests.conformance.joins_book import book_checks
from tests.conformance.joins_flink import flink_checks
from tests.conformance.joins_run import SPARK
from tests.conformance.joins_trace import trace_checks
from tests.conformance.runner import Check, Engine, run_suite


def checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks: rules of windows need no engine, programs run on the one given."""
    return on_engine(_checks, engine, SPARK)


def _checks(engine: Engine) -> Mapping[str, Check]:
    return {**trace_checks(engine), **flink_checks(engine), **book_checks(engine)}


if __name__ == "__main__":
    sys.exit(run_suite("joins", checks))
