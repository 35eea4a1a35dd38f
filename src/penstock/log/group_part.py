"""A consumer's part in a group: partitions come and go, and its offsets are stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

from penstock.errors import GroupError
from penstock.log.attendance import Attendance
from penstock.log.committer import Committer
from penstock.log.consumer_config import ConsumerConfig, PartitionsCallback
from penstock.log.fetch import Fetcher
from penstock.log.port import Log, Membership
from penstock.log.position import start_offset
from penstock.log.record import TopicPartition

_FENCED = "GROUP_FENCED"


class GroupPart:
    """Follows a group on behalf of a fetcher.

    A partition that is to go to another member is committed before it is let go, so that
    the next owner continues where this one stopped.
    """

    def __init__(
        self,
        log: Log,
        group: str,
        topics: tuple[str, ...],
        fetcher: Fetcher,
        config: ConsumerConfig,
    ) -> None:
        self._log = log
        self._group = group
        self._fetcher = fetcher
        self._config = config
        self._attendance = Attendance(
            _joining(log, group, topics, config), config.max_poll_interval
        )
        self._committer = Committer(self._store, config.auto_commit)

    @property
    def news(self) -> threading.Event:
        """Set when `attend` should be called."""
        return self._attendance.news

    @property
    def is_due(self) -> bool:
        """Whether `attend` should be called before the next records are given."""
        return self._attendance.is_due

    @property
    def seat(self) -> Membership:
        """The seat held now."""
        return self._attendance.seat

    def attend(self) -> None:
        """Do what the group wants; after losing the seat, take a new one."""
        try:
            change = self._attendance.attend()
            if change is not None and change.revoked:
                self._give_up(change.revoked & self._fetcher.places)
                self._attendance.seat.release(change.revoked)
            self._take_up(self._attendance.seat.owned - self._fetcher.places)
            if self._committer.is_due:
                self._committer.commit(self._fetcher.positions())
        except GroupError as refusal:
            if refusal.code != _FENCED:
                raise
            self._lose()
            self._attendance.rejoin()

    def commit(self, offsets: Mapping[TopicPartition, int] | None) -> None:
        """Store offsets, by default the positions; refused where the seat is lost."""
        if offsets is None:
            self._committer.commit(self._fetcher.positions())
        else:
            self._committer.store(offsets)

    def leave(self, *, commit: bool) -> None:
        """Give up the seat, after storing the positions where that is automatic."""
        try:
            if commit and self._fetcher.places:
                self._give_up(self._fetcher.places)
        except GroupError as refusal:
            if refusal.code != _FENCED:
                raise
            self._lose()
        finally:
            self._attendance.leave()

    def _store(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._attendance.seat.commit(offsets)

    def _give_up(self, places: frozenset[TopicPartition]) -> None:
        _tell(self._config.on_revoke, places)
        if self._committer.is_automatic:
            self._committer.commit(self._fetcher.positions(places))
        self._drop(places)

    def _take_up(self, places: frozenset[TopicPartition]) -> None:
        if not places:
            return
        committed = self._log.committed(self._group)
        for place in sorted(places):
            if place in committed:
                self._committer.begin(place, committed[place])
                self._fetcher.add(place, committed[place])
            else:
                config = self._config
                offset = start_offset(self._log, place, config.start, config.isolation)
                self._fetcher.add(place, offset)
        _tell(self._config.on_assign, places)

    def _lose(self) -> None:
        places = self._fetcher.places
        self._drop(places)
        _tell(self._config.on_lost, places)

    def _drop(self, places: Iterable[TopicPartition]) -> None:
        self._fetcher.drop(places)
        self._committer.forget(places)


def _joining(
    log: Log, group: str, topics: tuple[str, ...], config: ConsumerConfig
) -> Callable[[], Membership]:
    def join() -> Membership:
        return log.join(
            group,
            topics,
            assignor=config.assignor,
            client=config.client,
            session_timeout=config.session_timeout,
            instance_id=config.instance_id,
        )

    return join


def _tell(callback: PartitionsCallback | None, places: frozenset[TopicPartition]) -> None:
    if callback is not None and places:
        callback(places)
