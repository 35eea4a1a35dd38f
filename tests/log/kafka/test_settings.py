from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from penstock.log.kafka.settings import kafka_settings, topic_config
from penstock.log.topic import TopicConfig

DURATIONS = st.timedeltas(timedelta(0), timedelta(days=10_000)).map(
    lambda found: found // timedelta(milliseconds=1) * timedelta(milliseconds=1)
)


@given(
    st.builds(
        TopicConfig,
        cleanup=st.sampled_from(["delete", "compact", "compact,delete"]),
        retention=st.none() | DURATIONS,
        retention_bytes=st.none() | st.integers(0, 2**40),
        segment_bytes=st.integers(1, 2**30),
        segment_age=st.none() | DURATIONS,
        compression=st.sampled_from(["none", "lz4", "zstd"]),
        fsync=st.sampled_from(["always", "os"]),
        max_record_bytes=st.integers(1, 2**24),
    )
)
def test_what_a_topic_was_created_with_comes_back(config: TopicConfig) -> None:
    assert topic_config(kafka_settings(config), config) == config


def test_what_another_tool_changed_wins_and_the_rest_is_as_it_was_kept() -> None:
    kept = TopicConfig(fsync="os", segment_bytes=4000)
    found = {**kafka_settings(kept), "retention.ms": "60000", "cleanup.policy": "delete,compact"}
    expected = kept.with_settings(retention=timedelta(minutes=1), cleanup="compact,delete")
    assert topic_config(found, kept) == expected


def test_a_topic_of_somebody_else_is_described_by_kafkas_settings_alone() -> None:
    found = {"retention.ms": "604800000", "compression.type": "gzip", "segment.jitter.ms": "0"}
    assert topic_config(found, None) == TopicConfig(retention=timedelta(days=7))
