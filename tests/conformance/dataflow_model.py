"""The facts about the Dataflow model, each kind with its check.

`python -m tests.conformance.dataflow_model FILE.json [--engine driver|spark] [--json OUT]`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conformance.dataflow_fact import fact_checks
from tests.conformance.dataflow_machine import MACHINE_CHECKS
from tests.conformance.dataflow_pipeline import pipeline_checks
from tests.conformance.dataflow_script import script_checks
from tests.conformance.dataflow_stream import stream_checks
from tests.conformance.engines import on_engine
from tests.conformance.runner import Check, Engine, run_suite


def checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks: triggers alone need no engine, programs run on the one given."""
    return on_engine(_checks, engine)


def _checks(engine: Engine) -> Mapping[str, Check]:
    return {
        **MACHINE_CHECKS,
        **fact_checks(engine),
        **pipeline_checks(engine),
        **script_checks(engine),
        **stream_checks(engine),
    }


if __name__ == "__main__":
    sys.exit(run_suite("dataflow_model", checks))
