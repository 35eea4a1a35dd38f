"""The clients of a cluster: made with the same properties, heard when they complain."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined]  # it says no `__all__`
    AdminClient,
    ClusterMetadata,
)

from penstock.log.kafka.failures import coded, error_of, refused_setting, undisguised
from penstock.log.kafka.properties import KafkaPlace

PATIENCE = 30.0
"""How many seconds a question may take before it counts as failed."""

ATTEMPT = 4.0
"""How many seconds a question may wait for one broker before it is asked anew."""

LASTING = 300.0
"""How many seconds librdkafka keeps a question: longer than a socket lives.

An answer to a question that it has given up ends the whole process (librdkafka's issue 4605), so
only we give up, and what comes late is answered to nobody.
"""

# A broker that stands still keeps its connections open: only a timeout tells that it does, and
# librdkafka's own are 60 s and 30 s.
_STANDSTILL = {"socket.timeout.ms": "10000"}
_UNANSWERED = {"request.timeout.ms": "10000"}
# How long a producer takes a topic that no broker knows for one that is still being made.
_PROPAGATION = {"topic.metadata.propagation.max.ms": "2000"}
LOGGER = logging.getLogger("penstock.kafka")
LOGGER.addHandler(logging.NullHandler())
_PAUSE = 0.1
_STEP = 0.1
_LISTING = 2.0
_WORTH_A_RETRY = {
    # A partition has no leader for the moment.
    KafkaError._NOENT,  # noqa: SLF001  # how librdkafka names its own errors
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
}
# The answer, or the question, got lost with a broker.
_UNHEARD = {
    KafkaError._TIMED_OUT,  # noqa: SLF001  # how librdkafka names its own errors
    KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._TIMED_OUT_QUEUE,  # noqa: SLF001
    KafkaError._WAIT_COORD,  # noqa: SLF001
    # Another thread has changed the client.
    KafkaError._DESTROY,  # noqa: SLF001
    KafkaError._DESTROY_BROKER,  # noqa: SLF001
    KafkaError._NODE_UPDATE,  # noqa: SLF001
    KafkaError._WAIT_CACHE,  # noqa: SLF001
    KafkaError.REQUEST_TIMED_OUT,
}
# What a client hears of its connections says more than that its question had no answer.
_MORE_TELLING = {
    KafkaError._AUTHENTICATION,  # noqa: SLF001  # how librdkafka names its own errors
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError._SSL,  # noqa: SLF001
    KafkaError._TRANSPORT,  # noqa: SLF001
}
_VAGUE = {KafkaError._TIMED_OUT, KafkaError._TRANSPORT}  # noqa: SLF001

Answer = TypeVar("Answer")
Made = TypeVar("Made", AdminClient, Consumer, Producer)


class _Heard:
    """What clients complained of since the last answer; they know nothing of who made them."""

    def __init__(self) -> None:
        self.last: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        """Take note of a complaint; one for good is not forgotten for another."""
        if error.code() in _MORE_TELLING and (self.for_good is None or _is_for_good(error)):
            self.last = error

    @property
    def for_good(self) -> KafkaError | None:
        """A complaint that no further attempt will change: nobody is let in."""
        last = self.last
        return last if last is not None and _is_for_good(last) else None


class Clients:
    """Makes clients; threads may share it."""

    def __init__(self, place: KafkaPlace) -> None:
        self.place = place
        self._guard = threading.Lock()
        self._heard = _Heard()
        self._held: list[AdminClient] = []
        # Its thread calls back: it must not outlive the interpreter.
        weakref.finalize(self, _drop, self._held, os.getpid())

    @property
    def admin(self) -> AdminClient:
        """The client that asks about topics, offsets and groups."""
        with self._guard:
            if not self._held:
                self._held.append(_made(AdminClient, self._settings({}, of="admin")))
            return self._held[0]

    def producer(self, settings: Mapping[str, str]) -> Producer:
        """Make a producer."""
        return _made(Producer, self._settings(settings, of="producer"))

    def consumer(self, settings: Mapping[str, str]) -> Consumer:
        """Make a consumer."""
        return _made(Consumer, self._settings(settings, of="consumer"))

    @contextlib.contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Give every error of Kafka inside a with block a code, a fact and a hint."""
        try:
            with undisguised():
                yield
        except KafkaException as failure:
            error = error_of(failure)
            if error is None:
                raise
            heard = self._heard.last
            if error.code() in _VAGUE and heard is not None:
                error = heard
            raise coded(doing, error, at=self.place.address) from failure
        else:
            self._heard.last = None

    def ask(
        self,
        doing: str,
        question: Callable[[], Future[Answer]],
        *,
        once: bool = False,
        answers: Callable[[Answer], bool] = lambda _: True,
        seconds: float | None = None,
    ) -> Answer:
        """Wait for an answer; asked again while brokers, leaders or coordinators are being found.

        `once` is for what must not be done twice: a lost answer is not asked for again. `answers`
        says whether what came is one. `seconds` are less than our usual patience.
        """
        deadline = time.monotonic() + (PATIENCE if seconds is None else seconds)
        with self.errors(doing):
            while True:
                left = max(0.1, deadline - time.monotonic())
                try:
                    found = self._answer(question(), left if once else min(left, ATTEMPT))
                    if answers(found):
                        return found
                    failure = KafkaException(KafkaError(KafkaError.LEADER_NOT_AVAILABLE))
                except KafkaException as refusal:
                    failure = refusal
                self.admin.poll(0)
                if not self._passes(failure, once=once) or time.monotonic() + _PAUSE > deadline:
                    raise failure
                self._renew(failure)
                time.sleep(_PAUSE)

    def _renew(self, failure: KafkaException) -> None:
        """Ask with a new client: one that got no answer may wait for a broker that is gone."""
        error = error_of(failure)
        if error is None or error.code() not in _UNHEARD:
            return
        with self._guard:
            gone = [self._held.pop()] if self._held else []
        # Its end waits for its threads.
        threading.Thread(target=_drop, args=(gone, os.getpid())).start()

    def refresh(self, topic: str) -> None:
        """Learn the leaders of a topic: librdkafka believes for minutes in one that is gone."""
        with contextlib.suppress(KafkaException):
            self.admin.list_topics(topic, timeout=_LISTING)

    def listing(self) -> ClusterMetadata:
        """Give all topics; asked again while brokers are being found."""
        return self.ask("listing topics", self._list_topics)

    def _list_topics(self) -> Future[ClusterMetadata]:
        asked: Future[ClusterMetadata] = Future()
        try:
            # It blocks, so it does not for long: who is not let in is to be told soon.
            asked.set_result(self.admin.list_topics(timeout=_LISTING))
        except KafkaException as failure:
            asked.set_exception(failure)
        return asked

    def _answer(self, asked: Future[Answer], seconds: float) -> Answer:
        """Wait for an answer in small steps: who is not let in hears of it by the way."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                return asked.result(timeout=min(_STEP, max(0.0, deadline - time.monotonic())))
            except TimeoutError:
                # It calls back with complaints when it is asked to.
                self.admin.poll(0)
                if self._heard.for_good is not None or time.monotonic() >= deadline:
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None  # noqa: SLF001

    def close(self) -> None:
        """Let go of the client that asks."""
        with self._guard:
            self._held.clear()

    def _passes(self, failure: KafkaException, *, once: bool) -> bool:
        error = error_of(failure)
        if error is None:
            return False
        unheard = error.code() in _UNHEARD and not once and self._heard.for_good is None
        return unheard or error.code() in _WORTH_A_RETRY

    def _settings(self, settings: Mapping[str, str], *, of: str) -> dict[str, Any]:
        told: dict[str, Any] = {**_STANDSTILL, **self.place.properties}
        if of == "producer":
            # A topic is made by whoever decides how many partitions it has.
            told = {"allow.auto.create.topics": "false", **_PROPAGATION, **_UNANSWERED, **told}
        return {
            **told,
            **settings,
            "bootstrap.servers": self.place.servers,
            "error_cb": self._heard,
            "logger": LOGGER,
            "log_level": "3",
        }


def _drop(held: list[AdminClient], process: int) -> None:
    """End clients where they were made: a fork has none of their threads, and would wait."""
    if os.getpid() == process:
        held.clear()


def _made(kind: Callable[[dict[str, Any]], Made], settings: dict[str, Any]) -> Made:
    try:
        return kind(settings)
    except KafkaException as failure:
        error = error_of(failure)
        refused = None if error is None else refused_setting(error)
        if refused is None:
            raise
        raise refused from failure


def _is_for_good(error: KafkaError) -> bool:
    """Whether a broker said no; one that was lost in the middle of a handshake did not."""
    if error.code() == KafkaError._SSL:  # noqa: SLF001
        return "verif" in error.str()
    return error.code() == KafkaError._AUTHENTICATION and "Local: " not in error.str()  # noqa: SLF001
