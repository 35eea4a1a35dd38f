"""What becomes of one job when a project is applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from penstock.plan.finding import Finding, Kind
from penstock.plan.verdict import Verdict
from penstock.project.python_jobs import ProjectJob

Does: TypeAlias = Kind | Literal["create", "remove"]
"""Made; as it is; a verdict; or gone from the project, and removed where that is asked for."""


@dataclass(frozen=True, slots=True)
class Change:
    """A job, or something else that a catalog has, what is done with it, and why."""

    name: str
    does: Does
    reason: str = ""
    verdict: Verdict | None = None
    job: ProjectJob | None = None

    @property
    def drifts(self) -> bool:
        """Whether what runs is not what the project says."""
        return self.does != "unchanged"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What differs, part by part."""
        return () if self.verdict is None else self.verdict.findings
