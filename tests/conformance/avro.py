"""The facts about Avro and about registries, each kind with its check.

`python -m tests.conformance.avro FILE.json [--json OUT]`
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping

from tests.conformance.avro_resolution import RESOLUTION_CHECKS
from tests.conformance.avro_schema import SCHEMA_CHECKS
from tests.conformance.runner import Check, Engine, run_suite

_REGISTRY = "tests.conformance.avro_registry"


def checks(_engine: Engine) -> Mapping[str, Check]:
    """Schemas need no engine, so every one has the same checks."""
    return {**SCHEMA_CHECKS, **RESOLUTION_CHECKS, **_registry_checks()}


def _registry_checks() -> Mapping[str, Check]:
    # A registry needs its server's libraries, which the other kinds do not wait for.
    if importlib.util.find_spec(_REGISTRY) is None:
        return {}
    found: Mapping[str, Check] = importlib.import_module(_REGISTRY).registry_checks()
    return found


if __name__ == "__main__":
    sys.exit(run_suite("avro", checks))
