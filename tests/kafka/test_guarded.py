"""A broker with passwords, TLS and permissions lets in who may come in, and nobody else."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclOperation, AclPermissionType
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from tests.eventually import eventually
from tests.kafka.cluster import missing
from tests.kafka.guarded import USER, Guarded, guarded_broker

pytestmark = pytest.mark.slow


def written(guarded: Guarded, topic: str, *, tls: bool) -> KafkaError | None:
    """Write a record, and give what went wrong."""
    producer = Producer({**guarded.client(tls=tls), "message.timeout.ms": 20_000, "log_level": 0})
    errors: list[KafkaError | None] = []

    def done(error: KafkaError | None, _: Message) -> None:
        errors.append(error)

    producer.produce(topic, b"x", on_delivery=done)
    assert producer.flush(30) == 0
    (error,) = errors
    return error


def test_who_has_the_word_and_the_right_gets_in(tmp_path: Path) -> None:
    if missing():
        pytest.skip(missing())
    with guarded_broker(tmp_path / "guarded") as guarded:
        topic = guarded.brokers.topic()
        refused = written(guarded, topic, tls=False)
        assert refused is not None
        assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED
        right = AclBinding(
            *(ResourceType.TOPIC, topic, ResourcePatternType.LITERAL, f"User:{USER}", "*"),
            *(AclOperation.WRITE, AclPermissionType.ALLOW),
        )
        client = guarded.brokers.admin()
        for made in client.create_acls([right]).values():
            made.result(30)
        # The controller has the right before the broker has heard of it.
        eventually(lambda: written(guarded, topic, tls=False) is None)
        assert written(guarded, topic, tls=True) is None

        settings = guarded.client(tls=False, password="another")
        stranger = AdminClient({**settings, "log_level": 0})
        with pytest.raises(KafkaException):
            stranger.list_topics(timeout=3)
