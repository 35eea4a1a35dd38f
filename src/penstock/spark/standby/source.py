"""Plans the batches of a job with a standby: the lead by itself, the other as the lead did.

Both sides so have the same batches under the same numbers: the same rows, clock and watermarks,
and therefore the same results.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.datasource import ReadLimit
from typing_extensions import override

from penstock.errors import StateError
from penstock.log.port import Log
from penstock.spark.program_format import ProgramFormat
from penstock.spark.program_options import ProgramOptions
from penstock.spark.program_source import ProgramReader
from penstock.spark.standby.pace import StandbyPace
from penstock.spark.standby_files import Lead, other, planned, read_pair

if TYPE_CHECKING:
    from penstock.spark.job_files import JobFiles

_PATIENCE = 0.25
_LOOK_EVERY = 0.02


class StandbyReader(ProgramReader):
    """Follows the plan of the side that leads, and makes its own once its side does."""

    def __init__(self, options: ProgramOptions, log_of: Callable[[str], Log]) -> None:
        super().__init__(options, log_of)
        self._sides, self._side = read_pair(options.files)
        self._pace = StandbyPace(self._sides, other(self._side))

    @override
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        number = self._options.files.begun + 1
        lead = self._sides.lead
        if lead.side != self._side:
            return self._followed(lead, number) or start
        if number <= lead.inherited:
            # Planned before the takeover: its rows may be visible already.
            return self._inherited(number)
        self._pace.wait(number)
        return super().latestOffset(start, limit)

    def _followed(self, lead: Lead, number: int) -> dict[str, Any] | None:
        files = self._sides.files(lead.side)
        deadline = time.monotonic() + _PATIENCE
        while True:
            found = planned(files, number)
            if found is not None:
                return found
            if files.begun > number:
                raise _behind(files, number)
            if time.monotonic() >= deadline or self._sides.lead.term != lead.term:
                return None
            time.sleep(_LOOK_EVERY)

    def _inherited(self, number: int) -> dict[str, Any]:
        files = self._sides.files(other(self._side))
        found = planned(files, number)
        if found is None:
            raise _behind(files, number)
        return found


def _behind(files: JobFiles, number: int) -> StateError:
    return StateError(
        "STANDBY_BEHIND",
        f"the plan of batch {number} is no longer kept: the lead has come to {files.begun}",
        hint="The standby was too slow; it begins anew with what the lead has when it is started.",
    )


class StandbyFormat(ProgramFormat):
    """What both sides of a job with a standby read from."""

    @classmethod
    @override
    def name(cls) -> str:
        return "penstock-standby"

    @override
    def streamReader(self, schema: object) -> StandbyReader:
        return StandbyReader(ProgramOptions.from_texts(self.options), self.log_of)
