from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.serve.access.role import Role
from tests.serve.server_kit import Asked, asked

WORDS = {"table": "counts", "when": "n > 10", "to": ["webhook:https://hooks.example.com/secret"]}


@pytest.fixture
def found(working_directory: Path) -> Iterator[Asked]:
    """A server whose configuration has a rule."""
    rule = '[alerts.silent]\nstream = "clicks"\nabsent = "1 hour"\n'
    (working_directory / "penstock.toml").write_text(rule)
    with asked(working_directory / "home") as server:
        yield server


def test_a_rule_is_made_changed_silenced_and_removed(found: Asked) -> None:
    answer = found.client.put("/api/v1/alerts/many", json=WORDS)
    assert (answer.status_code, answer.json()["made"]) == (201, True)
    assert "secret" not in answer.text
    assert found.client.put("/api/v1/alerts/many", json=WORDS).status_code == 200
    rules = found.client.get("/api/v1/alerts").json()["rules"]
    assert [(rule["rule"], rule["made"]) for rule in rules] == [("many", True), ("silent", False)]
    silence = found.client.post("/api/v1/alerts/many/silence", json={"length": "1h"})
    assert silence.status_code == 200
    assert found.client.delete("/api/v1/alerts/many").status_code == 204
    assert found.client.delete("/api/v1/alerts/many").json()["code"] == "ALERT_MISSING"


def test_a_rule_that_cannot_be_or_is_of_the_configuration_is_refused(found: Asked) -> None:
    wrong = found.client.put("/api/v1/alerts/many", json={"tabel": "counts", "when": "n > 10"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "ALERT_FORM")
    assert wrong.json()["hint"] == 'Did you mean "table"?'
    taken = found.client.put("/api/v1/alerts/silent", json=WORDS)
    assert (taken.status_code, taken.json()["code"]) == (409, "ALERT_CONFIGURED")
    assert found.client.delete("/api/v1/alerts/silent").json()["code"] == "ALERT_CONFIGURED"


def test_only_an_admin_makes_rules_since_the_server_sends_to_their_receivers(found: Asked) -> None:
    writer = found.bearer(Role.WRITER)
    refused = found.client.put("/api/v1/alerts/many", json=WORDS, headers=writer)
    assert (refused.status_code, refused.json()["code"]) == (403, "ROLE_NEEDED")
    assert found.client.delete("/api/v1/alerts/many", headers=writer).status_code == 403
    admin = found.bearer(Role.ADMIN)
    made = found.client.put("/api/v1/alerts/many", json=WORDS, headers=admin)
    assert made.status_code == 201
