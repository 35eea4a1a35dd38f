"""A consumer that reads alone: fixed partitions, offsets stored under a group's name or nowhere."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import UsageError
from penstock.log.committer import Committer
from penstock.log.consumer_config import ConsumerConfig
from penstock.log.fetch import Fetcher
from penstock.log.port import Log
from penstock.log.position import start_offset
from penstock.log.record import TopicPartition


class LonePart:
    """Reads given partitions, whoever else reads them."""

    def __init__(
        self,
        log: Log,
        group: str | None,
        places: tuple[TopicPartition, ...],
        fetcher: Fetcher,
        config: ConsumerConfig,
    ) -> None:
        self._log = log
        self._group = group
        self._fetcher = fetcher
        self._committer = Committer(self._store, None if group is None else config.auto_commit)
        committed = {} if group is None else log.committed(group)
        for place in places:
            log.bounds(*place)
            if place in committed:
                self._committer.begin(place, committed[place])
                fetcher.add(place, committed[place])
            else:
                fetcher.add(place, start_offset(log, place, config.start, config.isolation))

    @property
    def news(self) -> None:
        """Nobody calls a lone reader."""

    @property
    def is_due(self) -> bool:
        """Whether it is time to store the positions."""
        return self._committer.is_due

    def attend(self) -> None:
        """Store the positions."""
        self._committer.commit(self._fetcher.positions())

    def commit(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Store offsets, by default the positions; refused without a group."""
        if offsets is None:
            self._committer.commit(self._fetcher.positions())
        else:
            self._committer.store(offsets)

    def leave(self, *, commit: bool) -> None:
        """Store the positions where that is automatic."""
        if commit and self._committer.is_automatic:
            self._committer.commit(self._fetcher.positions())

    def _store(self, offsets: Mapping[TopicPartition, int]) -> None:
        if self._group is None:
            raise UsageError(
                "CONSUMER_WITHOUT_GROUP",
                "a consumer without a group has nowhere to store its offsets",
                hint="Give it a group, or keep `position` yourself and `seek` after a restart.",
            )
        self._log.commit(self._group, offsets)
