"""The engines a case can be run on."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from penstock.model.plan import Plan
from tests.conformance.engine import NotHereError, Run
from tests.conformance.engine_driver import DriverRun
from tests.conformance.runner import Case, Check, Checks, Engine


def start(engine: Engine, program: Plan, *, clock: int = 0) -> Run:
    """Begin to run a program."""
    if engine == "driver":
        return DriverRun(program, clock)
    run: Run = _spark().SparkRun(program, clock)
    return run


def on_engine(checks: Checks, engine: Engine) -> Mapping[str, Check]:
    """Give the checks on an engine; what it cannot be asked is asked of the driver."""
    if engine == "driver":
        return checks("driver")
    by_driver = checks("driver")
    return {kind: _tried(check, by_driver[kind]) for kind, check in checks(engine).items()}


def _tried(check: Check, otherwise: Check) -> Check:
    def tried(case: Case) -> None:
        try:
            check(case)
        except NotHereError:
            otherwise(case)
        finally:
            _spark().close_runs()

    return tried


def _spark() -> Any:  # noqa: ANN401
    """Give the engine that needs Spark, which takes seconds to load."""
    return import_module("tests.conformance.engine_spark")
