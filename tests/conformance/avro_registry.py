"""The facts about schema registries: compatibility by level, the REST API, and its real client."""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.schema.language import SchemaSource
from penstock.schema.registry.avro_language import AVRO
from penstock.schema.registry.level import Earlier, level_named, objections
from tests.conformance.avro_client import CLIENT_CHECKS
from tests.conformance.avro_endpoint import ENDPOINT_CHECKS
from tests.conformance.avro_error import ERROR_CHECKS
from tests.conformance.avro_scenario import SCENARIO_CHECKS
from tests.conformance.avro_server import served
from tests.conformance.runner import Case, Check, same


def check_compatibility(case: Case) -> None:
    """A level, versions (oldest first) and a new schema: whether it may be registered."""
    table = case.shared[case.given["schemas"]] if "schemas" in case.given else {}

    def source(named: object) -> SchemaSource:
        return SchemaSource(json.dumps(table.get(str(named), named)))

    earlier = [
        Earlier(number, "AVRO", source(one))
        for number, one in enumerate(case.given["history_oldest_first"], 1)
    ]
    found = objections(level_named(case.given["level"]), AVRO, source(case.given["new"]), earlier)
    same(not found, case.expect["compatible"], f"compatible ({'; '.join(found)})")


def check_level(case: Case) -> None:
    """The level of a server that nobody has told one."""
    with served() as api:
        same(api.get("/config").json()["compatibilityLevel"], case.expect["level"], "level")


def registry_checks() -> Mapping[str, Check]:
    """Every kind with its check."""
    return {
        "registry_compat": check_compatibility,
        "registry_compat_level": check_level,
        **ENDPOINT_CHECKS,
        **ERROR_CHECKS,
        **SCENARIO_CHECKS,
        **CLIENT_CHECKS,
    }
