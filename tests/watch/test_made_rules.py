from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.log.open import open_log
from penstock.watch.ledger import alerts_in
from penstock.watch.made_rules import made_rules, rules_now
from penstock.watch.watcher import Watcher
from tests.eventually import eventually
from tests.watch.scenes import Scene

FAILING = {"table": "errors", "when": "count > 10", "for": "1 minute"}


def test_a_rule_that_was_made_is_one_beside_those_of_the_configuration(tmp_path: Path) -> None:
    made = made_rules(tmp_path)
    configured = {"silent": {"stream": "clicks", "absent": "1 hour"}}
    assert made.put("failing", FAILING, configured)
    assert not made.put("failing", {**FAILING, "when": "count > 20"}, configured)
    found = rules_now(tmp_path, configured)
    assert [(rule.name, rule.when) for rule in found] == [("failing", "count > 20"), ("silent", "")]
    made.remove("failing", configured)
    assert [rule.name for rule in rules_now(tmp_path, configured)] == ["silent"]


def test_what_cannot_be_or_stands_in_the_configuration_is_refused(tmp_path: Path) -> None:
    made = made_rules(tmp_path)
    with pytest.raises(UsageError, match=r"ALERT_FORM.*wen"):
        made.put("failing", {"table": "errors", "wen": "count > 10"}, {})
    with pytest.raises(UsageError, match="ALERT_FORM"):
        made.put("no name", FAILING, {})
    with pytest.raises(UsageError, match="ALERT_CONFIGURED"):
        made.put("failing", FAILING, {"failing": {}})
    with pytest.raises(UsageError, match="ALERT_CONFIGURED"):
        made.remove("failing", {"failing": {}})
    made.put("failing", FAILING, {})
    with pytest.raises(UsageError, match="ALERT_MISSING") as caught:
        made.remove("fialing", {})
    assert caught.value.hint == 'Did you mean "failing"?'


def test_who_watches_hears_of_rules_that_are_made_and_removed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.watch.watcher._PAUSE", 0.01)
    scene = Scene(tmp_path)
    scene.topic("errors")
    scene.put("errors", {"pageid": "P1", "count": 12})
    watcher = Watcher(tmp_path, settings=scene.settings(), clock=scene.clock, send=scene.box)
    watcher.start()
    made_rules(tmp_path).put("failing", {"table": "errors", "when": "count > 10"}, {})
    eventually(lambda: [rule.name for rule in watcher.rules] == ["failing"])
    eventually(lambda: "firing" in _states(scene))
    made_rules(tmp_path).remove("failing", {})
    eventually(lambda: watcher.rules == ())
    watcher.stop()
    assert watcher.problem == ""


def _states(scene: Scene) -> list[str]:
    with open_log(scene.home) as log:
        if "alerts" not in log.topics():
            return []
        return [alert.state for alert in alerts_in(log, "alerts").values()]
