"""Calls of librdkafka that may not keep to the time they are given."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future

from confluent_kafka import KafkaError, KafkaException


def in_time(act: Callable[[], None], *, seconds: float) -> None:
    """Do something in a thread, and leave it alone where it takes longer.

    Whatever it works with is not to be used again then: it may go on, and end much later.
    """
    done: Future[None] = Future()

    def work() -> None:
        try:
            act()
        except BaseException as failure:  # noqa: BLE001  # it is raised where it is waited for
            done.set_exception(failure)
        else:
            done.set_result(None)

    # Nobody waits for it at the end of the process either.
    threading.Thread(target=work, name="penstock-kafka-call", daemon=True).start()
    try:
        done.result(timeout=seconds)
    except TimeoutError:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT)) from None  # noqa: SLF001
