"""Checks of the facts about Kafka's log: compaction, retention, offsets, producer state."""

from __future__ import annotations

from tests.conformance.runner import Check

LOG_CHECKS: dict[str, Check] = {}
