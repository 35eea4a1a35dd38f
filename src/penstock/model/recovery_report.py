"""What is known of a recovery; times are milliseconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.model.job_settings import Guarantee, Recovery

_SECOND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryReport:
    """How a job came back after a crash.

    `batch` is the one that was planned last; `replayed` are the records that were read again.
    `lost` and `duplicated` are the most records whose results may be missing or doubled: those
    of the half-done batch, by the guarantee of the job.
    """

    kind: Recovery
    run: str
    after: str = ""
    """The run that had died; empty where a standby took over from another process."""
    guarantee: Guarantee = "exactly-once"
    batch: int = -1
    replayed: int = 0
    lost: int = 0
    duplicated: int = 0
    died_at: int
    """Its last sign of life."""
    noticed_at: int
    started_at: int | None = None
    """When its states were there, and its query ran."""
    first_result_at: int | None = None

    @property
    def seconds(self) -> float | None:
        """From the last sign of life to the first new result."""
        return self._between(self.died_at, self.first_result_at)

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """What the time went into."""
        times = (
            ("noticed", self.died_at, self.noticed_at),
            ("started", self.noticed_at, self.started_at),
            ("first batch", self.started_at, self.first_result_at),
        )
        found = ((name, self._between(one, other)) for name, one, other in times)
        return tuple((name, seconds) for name, seconds in found if seconds is not None)

    @staticmethod
    def _between(one: int | None, other: int | None) -> float | None:
        if one is None or other is None:
            return None
        return max(0, other - one) / _SECOND
