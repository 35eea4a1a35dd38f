"""Keeping a log in order: cleaning on demand and beside the work, checking, repairing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from penstock.clock import Clock
from penstock.log.embedded.background import BackgroundCleaner
from penstock.log.embedded.catalog import TOPICS, Catalog
from penstock.log.embedded.cleaner import CleanReport, PartitionCleaner
from penstock.log.embedded.compaction import Cleaning
from penstock.log.embedded.partition import Partition
from penstock.log.embedded.repair import Repaired, repair_partition
from penstock.log.embedded.verify import Finding, verify_log
from penstock.log.record import TopicPartition
from penstock.log.storage import Storage


class Housekeeping:
    """What an embedded log does for its own upkeep."""

    def __init__(
        self,
        storage: Storage,
        clock: Clock,
        catalog: Catalog,
        open_partition: Callable[[str, int], Partition],
    ) -> None:
        self._storage = storage
        self._clock = clock
        self._catalog = catalog
        self._open_partition = open_partition
        self._background = BackgroundCleaner(self._clean_if_worth_it)

    def clean(self, topic: str, *, include_active: bool) -> tuple[CleanReport, ...]:
        """Apply retention and compaction to every partition of a topic now."""
        self._background.wait()
        return tuple(
            self._cleaner(place).clean(self._clock.now(), include_active=include_active)
            for place in self._places(topic)
        )

    def delete_records(self, place: TopicPartition, before_offset: int) -> int:
        """Hide the records before an offset and remove the segments that hold nothing else."""
        cleaner = self._cleaner(place)
        start = cleaner.delete_records(before_offset)
        cleaner.clean(self._clock.now(), only_if_worth_it=True)
        return start

    def verify(self, topic: str | None) -> Iterator[Finding]:
        """Check everything, or one topic, against its checksums."""
        if topic is not None:
            self._catalog.get(topic)
        return verify_log(self._storage, self._catalog, None if topic is None else [topic])

    def repair(self, topic: str | None, *, cut_corrupt: bool) -> tuple[Repaired, ...]:
        """Rebuild what can be rebuilt from the segments, in everything or in one topic."""
        names = self._catalog.names() if topic is None else (topic,)
        return tuple(
            done
            for name in names
            for place in self._places(name)
            for done in repair_partition(
                self._storage,
                f"{TOPICS}/{place.topic}/{place.partition}",
                config=self._catalog.get(name).config,
                now=self._clock.now(),
                cut_corrupt=cut_corrupt,
            )
        )

    def schedule(self, place: TopicPartition) -> None:
        """Have a partition cleaned soon, beside the work."""
        self._background.schedule(place)

    def wait(self) -> None:
        """Return when everything scheduled is cleaned."""
        self._background.wait()

    def stop(self) -> None:
        """Give up cleaning that is under way."""
        self._background.stop()

    def _places(self, topic: str) -> Iterator[TopicPartition]:
        for number in range(self._catalog.get(topic).partitions):
            yield TopicPartition(topic, number)

    def _cleaner(
        self, place: TopicPartition, keep_going: Callable[[], bool] = lambda: True
    ) -> PartitionCleaner:
        part = self._open_partition(*place)
        # Described anew: another process may have changed what is to be kept.
        described = self._catalog.get(place.topic)
        return PartitionCleaner(Cleaning(self._storage, part, described, keep_going=keep_going))

    def _clean_if_worth_it(
        self, place: TopicPartition, keep_going: Callable[[], bool]
    ) -> CleanReport:
        cleaner = self._cleaner(place, keep_going)
        return cleaner.clean(self._clock.now(), only_if_worth_it=True)
