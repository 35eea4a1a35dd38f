"""The facts about Kafka, each kind with its check.

`python -m tests.conformance.kafka FILE.json [--json OUT]`
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tests.conformance.kafka_assign import ASSIGN_CHECKS
from tests.conformance.kafka_assign_property import ASSIGN_PROPERTY_CHECKS
from tests.conformance.kafka_log import LOG_CHECKS
from tests.conformance.kafka_partition import PARTITION_CHECKS
from tests.conformance.runner import Check, Engine, run_suite

CHECKS: Mapping[str, Check] = {
    **PARTITION_CHECKS,
    **ASSIGN_CHECKS,
    **ASSIGN_PROPERTY_CHECKS,
    **LOG_CHECKS,
}


def checks(_engine: Engine) -> Mapping[str, Check]:
    """The log needs no engine, so every one has the same checks."""
    return CHECKS


if __name__ == "__main__":
    sys.exit(run_suite("kafka", checks))
