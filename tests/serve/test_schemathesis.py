"""Whatever fits the OpenAPI document, or nearly does, is answered as the document says."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import (
    CheckFunction,
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode

from penstock.serve.access.role import Role
from tests.serve.server_kit import Asked, asked

CHECKS: list[CheckFunction] = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
ENDLESS = ("/live", "/stream", "/events", "/changes", "/metrics")
"""What answers until who asks has left; and what is no JSON."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Asked]:
    with asked(tmp_path) as found:
        found.platform.log.create_topic("clicks", partitions=2)
        statement = (
            "CREATE STREAM orders (id INT KEY, item VARCHAR) WITH"
            " (kafka_topic = 'orders', partitions = 1, value_format = 'json');"
            " INSERT INTO orders VALUES (1, 'tea');"
        )
        list(found.platform.sql.run(statement))
        yield found


def ask_everything(server: Asked, examples: int) -> int:
    """Ask each operation so many different things; give how many operations there are."""
    schema = schemathesis.openapi.from_dict(server.app.openapi())
    schema.app = server.app
    admin = server.bearer(Role.ADMIN)
    count = 0
    for result in schema.get_all_operations():
        assert isinstance(result, Ok)
        operation = result.ok()
        if any(part in operation.path for part in ENDLESS):
            continue
        count += 1
        _ask(operation, GenerationMode.POSITIVE, examples, admin)
        # What has no parameters cannot be asked wrongly.
        with contextlib.suppress(Unsatisfiable):
            _ask(operation, GenerationMode.NEGATIVE, (examples + 1) // 2, admin)
    return count


def _ask(
    operation: schemathesis.APIOperation[Any, Any, Any, Any],
    mode: GenerationMode,
    examples: int,
    admin: dict[str, str],
) -> None:
    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        deadline=None,
        database=None,
        derandomize=True,
    )
    @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
    def ask(case: schemathesis.Case[Any], known: bool) -> None:
        for name in ("name", "topic"):
            if known and name in case.path_parameters and case.method != "DELETE":
                case.path_parameters[name] = "orders"
        answer = case.call(base_url="http://127.0.0.1", headers=admin)
        case.validate_response(answer, checks=CHECKS)

    ask()


def test_no_request_makes_the_server_fail(server: Asked) -> None:
    assert ask_everything(server, 1) > 40


@pytest.mark.soak
def test_no_request_of_very_many_makes_the_server_fail(server: Asked) -> None:
    ask_everything(server, 200)
