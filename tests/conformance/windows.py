"""The facts about windows, each kind with its check.

`python -m tests.conformance.windows FILE.json [--engine driver|spark] [--json OUT]`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conformance.engines import on_engine
from tests.conformance.runner import Check, Engine, run_suite
from tests.conformance.windows_buffer import buffer_checks
from tests.conformance.windows_fact import fact_checks
from tests.conformance.windows_script import script_checks


def checks(engine: Engine) -> Mapping[str, Check]:
    """Give the checks: rules of windows need no engine, programs run on the one given."""
    return on_engine(_checks, engine)


def _checks(engine: Engine) -> Mapping[str, Check]:
    return {**fact_checks(engine), **script_checks(engine), **buffer_checks(engine)}


if __name__ == "__main__":
    sys.exit(run_suite("windows", checks))
