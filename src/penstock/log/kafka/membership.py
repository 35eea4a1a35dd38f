"""A seat in a consumer group of Kafka: its protocol is followed by a thread of the seat's own.

Kafka tells a member what to give up inside a callback, and waits for its end; the log's members
learn it from `heartbeat` and say `release` when they are ready. So the callback waits for them.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from queue import SimpleQueue

from confluent_kafka import Consumer, KafkaError, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from penstock.clock import Clock
from penstock.errors import GroupError, LogError
from penstock.log.kafka.clients import Clients
from penstock.log.kafka.failures import coded
from penstock.log.port import Assignor, Rebalance
from penstock.log.record import TopicPartition

_STRATEGIES: Mapping[Assignor, str] = {
    "range": "range",
    "round-robin": "roundrobin",
    # librdkafka's sticky one moves as little, and lets members keep what stays theirs.
    "sticky": "cooperative-sticky",
    "cooperative-sticky": "cooperative-sticky",
}
_NOTHING: frozenset[TopicPartition] = frozenset()
_POLL = 0.02
_COMMIT_ATTEMPTS = 20
# Brokers take no shorter one; a shorter one is kept by the seat itself.
_SHORTEST_SESSION = 6000
_LONGEST_RELEASE = 60.0
_PASSING = {
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seating:
    """What a member asks of its group."""

    group: str
    topics: Sequence[str]
    assignor: Assignor = "range"
    client: str = ""
    session_timeout: timedelta = timedelta(seconds=10)
    instance_id: str | None = None

    @property
    def session_millis(self) -> int:
        """How long a member may be silent."""
        return self.session_timeout // timedelta(milliseconds=1)

    def settings(self) -> dict[str, str]:
        """Give the settings of its consumer."""
        session = max(_SHORTEST_SESSION, self.session_millis)
        told = {
            "group.id": self.group,
            "partition.assignment.strategy": _STRATEGIES[self.assignor],
            "session.timeout.ms": str(session),
            "heartbeat.interval.ms": str(min(500, session // 10)),
            "max.poll.interval.ms": str(max(300_000, 2 * session)),
            "enable.auto.commit": "false",
            "enable.auto.offset.store": "false",
            "auto.offset.reset": "latest",
        }
        if self.client:
            told["client.id"] = self.client
        if self.instance_id is not None:
            told["group.instance.id"] = self.instance_id
        return told


@dataclass(slots=True)
class _Asked:
    """A commit that somebody waits for."""

    places: list[KafkaPartition]
    done: threading.Event = field(default_factory=threading.Event)
    failure: BaseException | None = None


class KafkaMembership:
    """One consumer's seat; any thread may use it."""

    def __init__(self, clients: Clients, clock: Clock, seating: Seating) -> None:
        self._clients = clients
        self._clock = clock
        self._seating = seating
        self._id = f"{seating.client or 'member'}-{uuid.uuid4().hex}"
        self._changed = threading.Condition()
        self._news = threading.Event()
        self._asked: SimpleQueue[_Asked] = SimpleQueue()
        self._attended_at = clock.now()
        self._owned = _NOTHING
        self._given = _NOTHING
        self._revoked = _NOTHING
        self._generation = 0
        self._ending = False
        self._failure: LogError | None = None
        with clients.errors(f'joining group "{seating.group}"'):
            self._consumer: Consumer = clients.consumer(seating.settings())
            self._consumer.subscribe(
                list(seating.topics),
                on_assign=self._on_assign,
                on_revoke=self._on_revoke,
                on_lost=self._on_lost,
            )
        self._thread = threading.Thread(
            target=self._follow, name=f"penstock-seat-{seating.group}", daemon=True
        )
        self._thread.start()

    @property
    def member_id(self) -> str:
        """A name of this member; the one that its group gives is for Kafka's own tools."""
        return self._id

    @property
    def generation(self) -> int:
        """How many times this member was given partitions."""
        return self._generation

    @property
    def owned(self) -> frozenset[TopicPartition]:
        """The partitions this member may read and commit now."""
        return self._owned

    def heartbeat(self) -> Rebalance | None:
        """Say "alive"; learn what to give up (until it is released) and what was given."""
        with self._changed:
            self._require_seat()
            self._attended_at = self._clock.now()
            given, self._given = self._given, _NOTHING
            revoked = self._revoked
            return Rebalance(revoked, given - revoked) if revoked or given else None

    def wait(self, timeout: float) -> bool:
        """Block until partitions come or go, or the time is over."""
        if self._failure is not None:
            return True
        told = self._news.wait(timeout)
        self._news.clear()
        return told

    def release(self, partitions: Iterable[TopicPartition]) -> None:
        """Give revoked partitions to whoever is to have them next."""
        with self._changed:
            gone = frozenset(partitions)
            self._revoked -= gone
            self._owned -= gone
            self._changed.notify_all()

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Store the next offsets to read; a member that lost them is fenced."""
        self._require_seat()
        for place in offsets:
            if place not in self._owned:
                raise self._fenced(f'does not hold "{place}"')
        places = [KafkaPartition(*place, at) for place, at in offsets.items()]
        asked = _Asked(places)
        self._asked.put(asked)
        # The seat's thread does it: a call from another one waits for the callback that waits
        # for its caller.
        while not asked.done.wait(_POLL):
            if self._ending and not self._thread.is_alive():
                raise self._fenced("has no seat any more")
        if asked.failure is not None:
            with self._clients.errors(f'committing in group "{self._seating.group}"'):
                raise asked.failure

    def leave(self) -> None:
        """Give up all partitions and the seat; a static member's seat waits for its return."""
        with self._changed:
            self._ending = True
            self._owned = self._given = self._revoked = _NOTHING
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _follow(self) -> None:
        """Take part in the group's protocol for as long as the member shows up."""
        try:
            while not self._ending:
                if self._clock.now() - self._attended_at > self._seating.session_millis:
                    self._lose(self._fenced("was silent for too long"))
                    break
                self._store()
                message = self._consumer.poll(_POLL)
                error = None if message is None else message.error()
                if error is not None:
                    self._fail(error)
        except (KafkaException, RuntimeError) as failure:
            self._lose(self._fenced(f"failed: {failure}"))
        finally:
            self._ending = True
            self._store()
            with contextlib.suppress(KafkaException, RuntimeError):
                self._consumer.close()

    def _store(self) -> None:
        """Commit what was asked for."""
        while not self._asked.empty():
            asked = self._asked.get()
            try:
                self._commit(asked.places)
            except (KafkaException, RuntimeError) as failure:
                asked.failure = failure
            asked.done.set()

    def _commit(self, places: list[KafkaPartition]) -> None:
        for attempt in range(_COMMIT_ATTEMPTS):
            try:
                done = self._consumer.commit(offsets=places, asynchronous=False)
            except KafkaException as failure:
                if failure.args[0].code() not in _PASSING or attempt + 1 == _COMMIT_ATTEMPTS:
                    raise
                time.sleep(_POLL)
                continue
            for place in done or ():
                if place.error is not None:
                    raise KafkaException(place.error)
            return

    def _on_assign(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        places = _places(partitions)
        # Records are read elsewhere: the seat only holds the partitions.
        held = [KafkaPartition(*place, 0) for place in places]
        if self._is_cooperative:
            consumer.incremental_assign(held)
        else:
            consumer.assign(held)
        if held:
            consumer.pause(held)
        with self._changed:
            self._owned |= places
            self._given |= places
            self._generation += 1
        self._news.set()

    def _on_revoke(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        places = _places(partitions)
        with self._changed:
            self._given -= places
            self._revoked |= places & self._owned
            self._news.set()
            # Until they are released, or nobody asks for the seat any more.
            deadline = time.monotonic() + _LONGEST_RELEASE
            while self._revoked & places and not self._ending and time.monotonic() < deadline:
                self._changed.wait(_POLL)
                self._store()
                if self._clock.now() - self._attended_at > self._seating.session_millis:
                    break
            self._revoked -= places
            self._owned -= places
        self._unassign(consumer, partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        with self._changed:
            places = _places(partitions)
            self._owned -= places
            self._given -= places
            self._revoked -= places
        self._unassign(consumer, partitions)
        self._lose(self._fenced("has no seat any more"))

    def _unassign(self, consumer: Consumer, partitions: list[KafkaPartition]) -> None:
        if self._is_cooperative:
            consumer.incremental_unassign(partitions)
        else:
            consumer.unassign()

    @property
    def _is_cooperative(self) -> bool:
        return _STRATEGIES[self._seating.assignor].startswith("cooperative")

    def _fail(self, error: KafkaError) -> None:
        if error.code() == KafkaError.FENCED_INSTANCE_ID:
            self._lose(
                GroupError(
                    "GROUP_INSTANCE_TAKEN",
                    f'instance "{self._seating.instance_id}" of group "{self._seating.group}" is'
                    " now another member",
                    hint="Two consumers run under one instance id: stop this one or rename it.",
                )
            )
        elif error.fatal() or not error.retriable():
            self._lose(coded(f'following group "{self._seating.group}"', error))

    def _lose(self, reason: LogError) -> None:
        with self._changed:
            self._failure = self._failure or reason
            self._ending = True
            self._owned = self._given = self._revoked = _NOTHING
            self._changed.notify_all()
        self._news.set()

    def _require_seat(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._ending:
            raise self._fenced("has no seat any more")

    def _fenced(self, reason: str) -> GroupError:
        return GroupError(
            "GROUP_FENCED",
            f'a member of group "{self._seating.group}" {reason}',
            hint="It was silent for too long or left: join again and read from what is committed.",
        )


def _places(partitions: Iterable[KafkaPartition]) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition(place.topic, place.partition) for place in partitions)
