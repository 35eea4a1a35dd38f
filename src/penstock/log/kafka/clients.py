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
from confluent_kafka.admin import AdminClient

from penstock.log.kafka.failures import coded, error_of
from penstock.log.kafka.properties import KafkaPlace

PATIENCE = 30.0
"""How many seconds a question may take before it counts as failed."""

ATTEMPT = 6.0
"""How many seconds a question may wait for one broker before it is asked anew."""

# A broker that stands still keeps its connections open: only a timeout tells that it does, and
# librdkafka's own are 60 s and 30 s.
_STANDSTILL = {"socket.timeout.ms": "10000"}
_UNANSWERED = {"request.timeout.ms": "10000"}
# How long a producer takes a topic that no broker knows for one that is still being made.
_PROPAGATION = {"topic.metadata.propagation.max.ms": "2000"}
LOGGER = logging.getLogger("penstock.kafka")
LOGGER.addHandler(logging.NullHandler())
_PAUSE = 0.1
_WORTH_A_RETRY = {
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.REBALANCE_IN_PROGRESS,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
}
# The answer, or the question, got lost with a broker.
_UNHEARD = {
    KafkaError._TIMED_OUT,  # noqa: SLF001  # how librdkafka names its own errors
    KafkaError._TRANSPORT,  # noqa: SLF001
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


class _Heard:
    """What clients said of their connections last; they know nothing of who made them."""

    def __init__(self) -> None:
        self.last: KafkaError | None = None

    def __call__(self, error: KafkaError) -> None:
        """Take note of a complaint."""
        if error.code() in _MORE_TELLING:
            self.last = error


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
                self._held.append(AdminClient(self._settings({}, of="admin")))
            return self._held[0]

    def producer(self, settings: Mapping[str, str]) -> Producer:
        """Make a producer."""
        return Producer(self._settings(settings, of="producer"))

    def consumer(self, settings: Mapping[str, str]) -> Consumer:
        """Make a consumer."""
        return Consumer(self._settings(settings, of="consumer"))

    @contextlib.contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Give every error of Kafka inside a with block a code, a fact and a hint."""
        try:
            yield
        except KafkaException as failure:
            error = error_of(failure)
            if error is None:
                raise
            heard = self._heard.last
            if error.code() in _VAGUE and heard is not None and heard.code() in _MORE_TELLING:
                error = heard
            raise coded(doing, error) from failure

    def ask(
        self, doing: str, question: Callable[[], Future[Answer]], *, once: bool = False
    ) -> Answer:
        """Wait for an answer; asked again while brokers, leaders or coordinators are being found.

        `once` is for what must not be done twice: a lost answer is not asked for again.
        """
        deadline = time.monotonic() + PATIENCE
        with self.errors(doing):
            while True:
                left = max(0.1, deadline - time.monotonic())
                try:
                    return question().result(timeout=left if once else min(left, ATTEMPT))
                except TimeoutError:
                    failure = KafkaException(KafkaError(KafkaError._TIMED_OUT))  # noqa: SLF001
                except KafkaException as refusal:
                    failure = refusal
                if not _passes(failure, once=once) or time.monotonic() + _PAUSE > deadline:
                    raise failure
                time.sleep(_PAUSE)

    def close(self) -> None:
        """Let go of the client that asks."""
        with self._guard:
            self._held.clear()

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


def _passes(failure: KafkaException, *, once: bool) -> bool:
    error = error_of(failure)
    if error is None:
        return False
    return error.code() in _WORTH_A_RETRY or (not once and error.code() in _UNHEARD)
