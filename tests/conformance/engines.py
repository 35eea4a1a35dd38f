"""The engines a case can be run on."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from penstock.model.plan import Plan
from tests.conformance.engine import NotHereError, Run
from tests.conformance.engine_driver import DriverRun
from tests.conformance.runner import Case, Check, Checks, Engine

_SPARK = "tests.conformance.engine_spark"


def start(engine: Engine, program: Plan, *, clock: int = 0) -> Run:
    """Begin to run a program."""
    if engine == "driver":
        return DriverRun(program, clock)
    run: Run = import_module(_SPARK).SparkRun(program, clock)
    return run


def on_engine(checks: Checks, engine: Engine, module: str = _SPARK) -> Mapping[str, Check]:
    """Give the checks on an engine; what it cannot be asked is asked of the driver.

    `module` holds the runs on Spark, and closes them; it takes seconds to load.
    """
    if engine == "driver":
        return checks("driver")
    by_driver = checks("driver")
    return {kind: _tried(check, by_driver[kind], module) for kind, check in checks(engine).items()}


def _tried(check: Check, otherwise: Check, module: str) -> Check:
    def tried(case: Case) -> None:
        try:
            check(case)
        except NotHereError:
            otherwise(case)
        finally:
            import_module(module).close_runs()

    return tried
