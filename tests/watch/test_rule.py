from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock.config import load_settings
from penstock.errors import ConfigError
from penstock.watch.rule_document import alert_rule, rules_of
from penstock.watch.target import target_of

TABLE: dict[str, Any] = {
    "table": "errors_by_page",
    "when": "count > 10",
    "for": "1 minute",
    "group_by": ["pageid"],
    "to": ["topic:alerts", "webhook:https://example.com/t0ken", "mail:ops@example.com"],
}


def test_a_rule_is_read_as_the_settings_say_it(tmp_path: Any) -> None:  # noqa: ANN401
    (tmp_path / "penstock.toml").write_text(
        '[alerts.failing_pages]\ntable = "errors_by_page"\nwhen = "count > 10"\nfor = "1 minute"\n'
        'group_by = ["pageid"]\nto = ["mail:ops@example.com"]\n'
        '[mail]\nhost = "mail"\nfrom = "a@b"\npassword_file = "secrets/smtp"\n'
    )
    settings = load_settings(environment={}, directory=tmp_path)
    (rule,) = rules_of(settings.alerts)
    assert (rule.name, rule.watched, rule.place) == ("failing_pages", "table", "errors_by_page")
    assert (rule.lasting, rule.group_by) == (timedelta(minutes=1), ("pageid",))
    assert settings.mail["password_file"] == str(tmp_path / "secrets" / "smtp")


def test_the_same_rule_is_said_in_python() -> None:
    said = {key: value for key, value in TABLE.items() if key != "for"}
    assert alert_rule("a", lasting="1 minute", **said) == rules_of({"a": TABLE})[0]
    assert alert_rule("a", stream="x", when="true", to="mail:a@b").receivers


def test_the_first_topic_is_where_alerts_are_written_down() -> None:
    (rule,) = rules_of({"a": TABLE})
    assert rule.topic == "alerts"
    assert [target.kind for target in rule.receivers] == ["webhook", "mail"]
    assert alert_rule("b", table="x", when="true", to="topic:mine").topic == "mine"


@pytest.mark.parametrize(
    "changes",
    [
        {"table": ""},
        {"stream": "also"},
        {"when": ""},
        {"absent": "5m"},
        {"to": ["topic:a", "topic:b"]},
        {"for": "soon"},
        {"repeat_every": "0s"},
        {"group_every": "-1s"},
        {"key": 7},
        {"wenn": "count > 10"},
    ],
)
def test_a_rule_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="ALERT_RULE"):
        rules_of({"a": {**TABLE, **changes}})


@pytest.mark.parametrize(
    "said",
    [
        {"stream": "clicks", "when": "a > 1", "for": "1m"},
        {"stream": "clicks", "when": "a > 1", "over": "1m"},
        {"table": "t", "absent": "1m", "clear": "a > 1"},
    ],
)
def test_what_cannot_be_said_of_its_kind_is_refused(said: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="ALERT_RULE"):
        rules_of({"a": said})


def test_a_rule_that_is_no_table_or_has_no_name_is_refused() -> None:
    with pytest.raises(ConfigError, match="ALERT_RULE"):
        rules_of({"a": "count > 10"})
    with pytest.raises(ConfigError, match="ALERT_RULE"):
        rules_of({"a\nb": TABLE})


@pytest.mark.parametrize(
    "text", ["slack:#ops", "mail:ops", "mail:a@b\r\nBcc: c@d", "webhook:ftp://x", "topic:"]
)
def test_a_receiver_that_cannot_be_reached_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="ALERT_TARGET"):
        target_of(text)


def test_neither_text_nor_error_shows_the_token_in_an_address() -> None:
    target = target_of("webhook:https://user:pw@example.com:8443/t0ken?key=t0ken")
    assert str(target) == "webhook:https://example.com:8443/..."
    for shown in (str(target), repr(target), repr(rules_of({"a": TABLE})), target.group):
        assert "t0ken" not in shown
    with pytest.raises(ConfigError) as caught:
        rules_of({"a": {**TABLE, "to": ["webhok:https://example.com/t0ken", 7]}})
    assert "t0ken" not in str(caught.value)
    with pytest.raises(ConfigError) as caught:
        target_of("webhok:https://example.com/t0ken")
    assert "t0ken" not in str(caught.value)
