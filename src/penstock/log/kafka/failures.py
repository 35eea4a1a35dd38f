"""What Kafka refuses, as errors that say what to do; none shows a property of a client."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from confluent_kafka import KafkaError, KafkaException

from penstock.errors import (
    ConfigError,
    GroupError,
    LogError,
    RecordError,
    TopicError,
    TransactionError,
)

_ABSENT = {
    # The client let go of a broker that went, and of what it was asked.
    KafkaError._DESTROY_BROKER,  # noqa: SLF001  # how librdkafka names its own errors
    KafkaError._DESTROY,  # noqa: SLF001
    KafkaError._TRANSPORT,  # noqa: SLF001
    KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001
    KafkaError._RESOLVE,  # noqa: SLF001
    KafkaError.BROKER_NOT_AVAILABLE,
    KafkaError.NETWORK_EXCEPTION,
}
_DENIED = {
    KafkaError._AUTHENTICATION,  # noqa: SLF001
    KafkaError._SSL,  # noqa: SLF001
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
}
_LATE = {
    KafkaError._TIMED_OUT,  # noqa: SLF001
    KafkaError._MSG_TIMED_OUT,  # noqa: SLF001
    KafkaError._TIMED_OUT_QUEUE,  # noqa: SLF001
    KafkaError._WAIT_COORD,  # noqa: SLF001
    KafkaError._NOENT,  # noqa: SLF001
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.KAFKA_STORAGE_ERROR,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
}
MISSING = {
    KafkaError._UNKNOWN_PARTITION,  # noqa: SLF001
    KafkaError._UNKNOWN_TOPIC,  # noqa: SLF001
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
}
_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}
REFUSED_RECORD = {*MISSING, *_LARGE, KafkaError.TOPIC_AUTHORIZATION_FAILED}
"""Why a broker takes a record never, whoever asks again."""
FENCED = {
    KafkaError._FENCED,  # noqa: SLF001
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    KafkaError.PRODUCER_FENCED,
}
_LOST = {
    KafkaError.FENCED_INSTANCE_ID,
    KafkaError.ILLEGAL_GENERATION,
    KafkaError.UNKNOWN_MEMBER_ID,
}


@contextlib.contextmanager
def undisguised() -> Iterator[None]:
    """Let out what a function of the client was stopped by.

    A callback that fails, or a Ctrl-C, is told by Python as a defect of the function in C that it
    came to.
    """
    try:
        yield
    except SystemError as failure:
        if isinstance(failure.__cause__, KafkaException | KeyboardInterrupt):
            raise failure.__cause__ from None
        raise


def error_of(failure: BaseException) -> KafkaError | None:
    """The error that Kafka or its library gave; None for a failure of another kind."""
    if isinstance(failure, KafkaError):
        return failure
    held = failure.args[0] if isinstance(failure, KafkaException) and failure.args else None
    return held if isinstance(held, KafkaError) else None


def refused_setting(error: KafkaError) -> ConfigError | None:
    """What librdkafka says of properties that it does not know or understand; None else."""
    if error.code() != KafkaError._INVALID_ARG:  # noqa: SLF001
        return None
    return ConfigError(
        "KAFKA_SETTING",
        f"the section [kafka] is refused by Kafka's client: {error.str()}",
        hint="Write its properties as librdkafka's CONFIGURATION.md does; `penstock config show`"
        " lists them.",
    )


def coded(doing: str, error: KafkaError, *, at: str = "") -> LogError:
    """Give a failure of Kafka a code, a fact and a hint; `at` is the address of the cluster."""
    code, said = error.code(), f"{doing} failed: {error.str()}"
    if code in _ABSENT:
        return LogError(
            "KAFKA_UNREACHABLE",
            f"{said} ({at})" if at else said,
            hint="Check the address in the setting `log` and that a broker listens there"
            " (penstock doctor); with TLS or SASL, the section [kafka], too.",
        )
    if code in _DENIED:
        return LogError(
            "KAFKA_DENIED",
            said,
            hint="Check user, password and certificates in the section [kafka], and what the"
            " cluster's access lists allow this user.",
        )
    if code in _LATE:
        return LogError(
            "KAFKA_TIMEOUT",
            said,
            hint="Try again when the brokers, and enough replicas of the partition, are up.",
        )
    return _about_records(said, code) or LogError(
        "KAFKA_REFUSED",
        f"{said} ({error.name()})",
        hint="Look for the name of the error in Kafka's documentation and in the broker's log.",
    )


def _about_records(said: str, code: int) -> LogError | None:
    if code in MISSING:
        return TopicError(
            "TOPIC_MISSING", said, hint="Somebody deleted the topic: create it, and start anew."
        )
    if code in _LARGE:
        return RecordError(
            "RECORD_TOO_LARGE",
            said,
            hint="Split the record, or raise the topic's max_record_bytes and the broker's limits.",
        )
    if code in FENCED:
        return TransactionError(
            "WRITER_FENCED",
            said,
            hint="Another process took over this transactional id: nothing of the open transaction"
            " is visible; close this producer.",
        )
    if code in _LOST:
        return GroupError(
            "GROUP_FENCED",
            said,
            hint="It was silent for too long or left: join again and read from what is committed.",
        )
    if code in (KafkaError.NON_EMPTY_GROUP, KafkaError.REBALANCE_IN_PROGRESS):
        return GroupError(
            "GROUP_ACTIVE", said, hint="Stop the group's consumers first, then try again."
        )
    return None


@contextlib.contextmanager
def coded_kafka_errors(doing: str) -> Iterator[None]:
    """Give every error of Kafka inside a with block a code, a fact and a hint."""
    try:
        yield
    except KafkaException as failure:
        error = error_of(failure)
        if error is None:
            raise
        raise coded(doing, error) from failure
