from __future__ import annotations

from datetime import timedelta

from penstock.jobs.cause import Cause
from penstock.jobs.restart import Restarts
from penstock.model.job_settings import Restart

FULL = Cause("DISK_FULL", "[DISK_FULL] no room")
POLICY = Restart(
    tries=5,
    first_pause=timedelta(seconds=1),
    longest_pause=timedelta(seconds=6),
    calm=timedelta(minutes=5),
)
AT_ONCE = timedelta(seconds=2)


def pauses(restarts: Restarts, times: int, ran: timedelta = AT_ONCE) -> list[float | None]:
    found = [restarts.failed(FULL, ran).pause for _ in range(times)]
    return [None if pause is None else pause.total_seconds() for pause in found]


def test_pauses_double_up_to_the_longest_and_then_it_is_given_up() -> None:
    restarts = Restarts(POLICY)
    assert pauses(restarts, 5) == [1, 2, 4, 6, 6]
    assert restarts.failed(FULL, AT_ONCE).why == "it has failed 6 times in a row"


def test_a_calm_time_lets_it_count_anew() -> None:
    restarts = Restarts(POLICY)
    assert pauses(restarts, 5) == [1, 2, 4, 6, 6]
    assert pauses(restarts, 2, timedelta(minutes=5)) == [1, 1]
    assert pauses(restarts, 5) == [2, 4, 6, 6, None]


def test_a_log_that_does_not_answer_is_waited_for_without_an_end() -> None:
    restarts = Restarts(POLICY)
    away = Cause("KAFKA_UNREACHABLE", "[KAFKA_UNREACHABLE] listing topics failed")
    verdicts = [restarts.failed(away, AT_ONCE) for _ in range(20)]
    found = [verdict.pause.total_seconds() for verdict in verdicts if verdict.pause]
    assert found == [1, 2, 4, *[6] * 17]
    assert verdicts[-1].why == "it is started again in 6 s, until the log answers"
    assert pauses(restarts, 6) == [1, 2, 4, 6, 6, None]
    assert Restarts(Restart(tries=0)).failed(away, AT_ONCE).pause is None


def test_a_permanent_failure_is_not_tried_again() -> None:
    verdict = Restarts(POLICY).failed(Cause("CHECKPOINT_PROGRAM", "another one"), AT_ONCE)
    assert (verdict.pause, verdict.why) == (None, "it would fail again in the same way")


def test_a_policy_without_tries_never_starts_again() -> None:
    verdict = Restarts(Restart(tries=0)).failed(FULL, AT_ONCE)
    assert (verdict.pause, verdict.why) == (None, "its settings say that it is not started again")


def test_many_failures_in_a_row_do_not_make_a_pause_too_long_to_be_told() -> None:
    restarts = Restarts(Restart(tries=10_000, first_pause=timedelta(hours=1)))
    assert pauses(restarts, 10_000)[-1] == 60
