"""Whether a job that has failed is started again, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from penstock.jobs.cause import Cause
from penstock.jobs.permanent import is_permanent
from penstock.model.job_settings import Restart

_AWAITED = frozenset({"KAFKA_TIMEOUT", "KAFKA_UNREACHABLE"})
"""A log that does not answer is no fault of the job: it is tried for as long as that lasts."""
_DOUBLINGS = 30
"""More would be longer than any longest pause, and a number too large for a time."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is done about a failure; without a pause nothing is, and `why` says for what reason."""

    pause: timedelta | None
    why: str


class Restarts:
    """Counts the failures of a job in a row, and decides by its policy."""

    def __init__(self, policy: Restart) -> None:
        self._policy = policy
        self._in_a_row = 0
        self._unanswered = 0

    def failed(self, cause: Cause, ran: timedelta) -> Verdict:
        """Decide on a failure of a run that has lasted so long."""
        policy = self._policy
        if ran >= policy.calm:
            self._in_a_row = self._unanswered = 0
        if is_permanent(cause):
            return Verdict(None, "it would fail again in the same way")
        if cause.reason in _AWAITED and policy.tries > 0:
            return self._until_answered()
        self._unanswered = 0
        if self._in_a_row >= policy.tries:
            return Verdict(None, _given_up(policy.tries))
        pause = self._pause(self._in_a_row)
        self._in_a_row += 1
        tried = f"{self._in_a_row} of {policy.tries}"
        return Verdict(pause, f"it is started again in {pause.total_seconds():g} s ({tried})")

    def _until_answered(self) -> Verdict:
        pause = self._pause(self._unanswered)
        self._unanswered += 1
        when = f"in {pause.total_seconds():g} s"
        return Verdict(pause, f"it is started again {when}, until the log answers")

    def _pause(self, failures: int) -> timedelta:
        doubled: timedelta = self._policy.first_pause * 2 ** min(failures, _DOUBLINGS)
        return min(doubled, self._policy.longest_pause)


def _given_up(tries: int) -> str:
    if tries == 0:
        return "its settings say that it is not started again"
    return f"it has failed {tries + 1} times in a row"
