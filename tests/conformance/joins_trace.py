"""Checks of the facts about Kafka's joins: what each record, or all up to a check, gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from penstock.errors import ModelError
from penstock.model.join_bound import Interval
from penstock.model.watermark import BoundedDisorder
from tests.conformance.joins_changes import (
    Given,
    Record,
    Shape,
    Table,
    changes_of,
    expected_record,
    in_order,
    key_text,
    pair,
    text_with,
)
from tests.conformance.joins_kafka import KafkaJoin, Words
from tests.conformance.joins_program import LEFT, RIGHT
from tests.conformance.runner import Case, Check, Engine, same
