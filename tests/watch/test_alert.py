from __future__ import annotations

from penstock.watch.alert import Alert, next_alert
from penstock.watch.rule_document import alert_rule
from penstock.watch.sighting import Sighting

MINUTE = 60_000
HOLDS = Sighting("k", True, False, {"count": 12})  # noqa: FBT003
BETWEEN = Sighting("k", False, False, {"count": 7})  # noqa: FBT003
CLEAR = Sighting("k", False, True, {"count": 2})  # noqa: FBT003


def life(rule_words: dict[str, str], *seen: tuple[int, Sighting]) -> list[tuple[int, str]]:
    """Give what is written down, and when."""
    rule = alert_rule("r", table="t", when="count > 10", **rule_words)
    alert: Alert | None = None
    told: list[tuple[int, str]] = []
    for at, sighting in seen:
        after = next_alert(rule, alert, sighting, at)
        if after is not None and after != alert:
            told.append((at, after.state))
        alert = after
    return told


def test_without_a_time_it_fires_at_once_and_is_over_at_once() -> None:
    assert life({}, (0, HOLDS), (1, HOLDS), (2, CLEAR), (3, CLEAR)) == [
        (0, "firing"), (2, "resolved"),
    ]  # fmt: skip


def test_it_fires_when_it_has_held_for_its_time() -> None:
    words = {"lasting": "1 minute"}
    assert life(words, (0, HOLDS), (MINUTE - 1, HOLDS), (MINUTE, HOLDS)) == [
        (0, "pending"), (MINUTE, "firing"),
    ]  # fmt: skip
    assert life(words, (0, HOLDS), (MINUTE - 1, CLEAR), (MINUTE, HOLDS)) == [
        (0, "pending"), (MINUTE - 1, "withdrawn"), (MINUTE, "pending"),
    ]  # fmt: skip


def test_between_two_conditions_it_stays_what_it_is() -> None:
    assert life({}, (0, BETWEEN), (1, HOLDS), (2, BETWEEN), (3, CLEAR), (4, BETWEEN)) == [
        (1, "firing"), (3, "resolved"),
    ]  # fmt: skip


def test_it_is_over_when_it_has_been_so_for_its_time() -> None:
    words = {"resolve_after": "1 minute"}
    seen = [(0, HOLDS), (1, CLEAR), (MINUTE, HOLDS), (MINUTE + 1, CLEAR), (2 * MINUTE + 1, CLEAR)]
    assert life(words, *seen) == [(0, "firing"), (2 * MINUTE + 1, "resolved")]


def test_one_that_goes_on_is_told_again() -> None:
    words = {"repeat_every": "1 minute"}
    seen = [(0, HOLDS), (MINUTE - 1, HOLDS), (MINUTE, HOLDS), (MINUTE + 1, HOLDS)]
    assert life(words, *seen) == [(0, "firing"), (MINUTE, "firing")]


def test_every_notice_has_an_id_of_its_own_and_always_the_same() -> None:
    rule = alert_rule("r", table="t", when="count > 10", repeat_every="1m")
    first = next_alert(rule, None, HOLDS, 0)
    assert first is not None
    second = next_alert(rule, first, HOLDS, MINUTE)
    over = next_alert(rule, second, CLEAR, MINUTE + 1)
    assert second is not None and over is not None  # noqa: PT018
    assert len({first.id, second.id, over.id}) == 3
    assert next_alert(rule, None, HOLDS, 0).id == first.id  # type: ignore[union-attr]


def test_an_alert_tells_its_row_in_the_words_of_its_rule() -> None:
    rule = alert_rule("r", table="t", when="count > 10", message="{count} errors {of} {nobody}")
    alert = next_alert(rule, None, HOLDS, 0)
    assert alert is not None
    assert (alert.message, alert.value) == ("12 errors {of} {nobody}", '{"count": 12}')
    over = next_alert(rule, alert, CLEAR, 1)
    assert over is not None
    assert over.message == "2 errors {of} {nobody}"
