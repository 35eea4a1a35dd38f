"""The facts about Storm, each kind with its check.

`python -m tests.conformance.storm FILE.json [--json OUT]`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conformance.runner import Check, Engine, run_suite
from tests.conformance.storm_grouping import GROUPING_CHECKS
from tests.conformance.storm_hash import HASH_CHECKS

CHECKS: Mapping[str, Check] = {**GROUPING_CHECKS, **HASH_CHECKS}


def checks(_engine: Engine) -> Mapping[str, Check]:
    """A topology runs in its own process, so every engine has the same checks."""
    return CHECKS


if __name__ == "__main__":
    sys.exit(run_suite("storm", checks))
