from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.log.open import open_log
from penstock.serve.watching import watching
from penstock.watch.ledger import alert_topics, alerts_in


def test_the_rules_of_the_settings_are_watched_beside_the_jobs(working_directory: Path) -> None:
    rule = '[alerts.silent]\nstream = "clicks"\nabsent = "1 hour"\n'
    (working_directory / "penstock.toml").write_text(rule)
    home = working_directory / "home"
    deadline = time.monotonic() + 20
    with watching(home), open_log(home) as log:
        while not alert_topics(log) and time.monotonic() < deadline:
            time.sleep(0.01)
    with open_log(home) as log:
        assert [alert.state for alert in alerts_in(log, "alerts").values()] == ["firing"]


def test_a_rule_that_cannot_be_is_refused_before_anything_runs(working_directory: Path) -> None:
    (working_directory / "penstock.toml").write_text('[alerts.a]\nwhen = "x > 1"\n')
    with pytest.raises(ConfigError, match="ALERT_RULE"), watching(working_directory):
        pass
