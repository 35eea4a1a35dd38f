from __future__ import annotations

import threading

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.log.kafka.failures import error_of
from penstock.log.kafka.given_time import in_time


def test_what_is_done_in_time_is_done_and_what_it_raises_is_raised() -> None:
    found: list[int] = []
    in_time(lambda: found.append(1), seconds=30)
    assert found == [1]

    def fail() -> None:
        raise KafkaException(KafkaError(KafkaError._FENCED))  # librdkafka's own

    with pytest.raises(KafkaException) as raised:
        in_time(fail, seconds=30)
    error = error_of(raised.value)
    assert error is not None
    assert error.code() == KafkaError._FENCED


def test_what_does_not_come_back_is_left_alone() -> None:
    never, begun = threading.Event(), threading.Event()

    def stuck() -> None:
        begun.set()
        never.wait()

    with pytest.raises(KafkaException) as raised:
        in_time(stuck, seconds=0.05)
    error = error_of(raised.value)
    assert error is not None
    assert error.code() == KafkaError._TIMED_OUT  # librdkafka's own
    assert begun.wait(30)
    never.set()
