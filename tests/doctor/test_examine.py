from __future__ import annotations

import pytest

from penstock.config import Settings, load_settings
from penstock.doctor import examine as examination
from penstock.doctor.examine import CHECKS, Check, Finding, examine
from penstock.errors import SetupError

SETTINGS = load_settings(environment={})


def fine(_: Settings) -> str:
    return "fine"


def broken(_: Settings) -> str:
    raise SetupError("JAVA_MISSING", "no java", hint="Install it.")


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Check]:
    stand_ins: dict[str, Check] = dict.fromkeys(CHECKS, fine)
    monkeypatch.setattr(examination, "CHECKS", stand_ins)
    return stand_ins


def test_every_check_is_made_and_gives_its_fact(checks: dict[str, Check]) -> None:
    findings = list(examine(SETTINGS))
    assert findings == [Finding(name, "ok", "fine") for name in CHECKS]


def test_a_failure_keeps_code_and_fix_and_stops_no_other_check(checks: dict[str, Check]) -> None:
    checks["memory"] = broken
    findings = {finding.check: finding for finding in examine(SETTINGS)}
    assert findings["memory"] == Finding(
        "memory", "failed", "no java", "JAVA_MISSING", "Install it."
    )
    assert {name for name, found in findings.items() if found.verdict == "ok"} == {
        name for name in CHECKS if name != "memory"
    }


def test_spark_is_not_started_on_what_failed(checks: dict[str, Check]) -> None:
    checks["java"] = broken
    spark = list(examine(SETTINGS))[-1]
    assert spark == Finding("spark", "skipped", "needs what failed: java")


def test_a_check_can_be_left_out(checks: dict[str, Check]) -> None:
    checks["spark"] = broken
    assert list(examine(SETTINGS, skip=frozenset({"spark"})))[-1].verdict == "skipped"
