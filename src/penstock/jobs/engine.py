"""What runs the versions of a job while it is upgraded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from penstock.log.record import TopicPartition
from penstock.model.job_settings import JobSettings
from penstock.model.physical import Physical
from penstock.model.progress import Progress


class Engine(Protocol):
    """Runs a version in this process until it has read all there is, or up to some offsets."""

    def run(
        self,
        physical: Physical,
        checkpoint: Path,
        *,
        how: JobSettings,
        upto: Mapping[TopicPartition, int] | None = None,
        ends: bool = False,
        tell: Callable[[Progress], None] | None = None,
    ) -> None:
        """Let a version read; `ends` closes every window at the end."""

    def reached(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give the next offset of each partition that a version reads; none before its first."""

    def began(self, checkpoint: Path) -> Mapping[TopicPartition, int]:
        """Give where a version began to read; none where that is not known."""

    def has_ended(self, checkpoint: Path) -> bool:
        """Whether a version has come to the end of its input and closed every window."""

    def fence(self, checkpoint: Path) -> str | None:
        """Give the id that the transactions of a version have; none where it has not run."""
