from __future__ import annotations

import json

import pytest

from penstock.errors import TopicError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.record import TopicPartition
from penstock.spark.admission import NO_LIMITS, BatchLimits
from penstock.spark.batch import first_marks
from penstock.spark.program_admission import admit_program
from penstock.spark.program_offset import ProgramOffset
from tests.spark.conftest import VIEWS, view_rows


def places(log: EmbeddedLog) -> dict[TopicPartition, int]:
    return {place: bound.end for place, bound in log.snapshot(log.topics()).items()}


def test_an_offset_comes_back_from_json() -> None:
    positions = {TopicPartition("a", 0): 3, TopicPartition("a", 1): 4, TopicPartition("b", 0): 0}
    offset = ProgramOffset(positions, {"a": "x", "b": "y"}, 17, first_marks(5), ended=True)
    assert ProgramOffset.from_json(json.loads(json.dumps(offset.to_json()))) == offset


def test_a_topic_made_anew_is_not_gone_on_with(views: EmbeddedLog) -> None:
    offset = ProgramOffset(
        {TopicPartition("views", 0): 3}, {"views": views.topic("views").topic_id}
    )
    offset.require_same_topics(views)
    views.delete_topic("views")
    views.create_topic("views", partitions=2, schema=VIEWS)
    with pytest.raises(TopicError, match="TOPIC_REPLACED"):
        offset.require_same_topics(views)


def test_topics_share_a_limit_by_what_each_has_waiting(views: EmbeddedLog) -> None:
    views.create_topic("few", schema=VIEWS)
    views.append("few", 0, view_rows(30))
    start = dict.fromkeys(places(views), 0)
    assert admit_program(views, start, places(views), NO_LIMITS) == places(views)
    taken = admit_program(views, start, places(views), BatchLimits(rows=33))
    assert taken == {
        TopicPartition("few", 0): 3,
        TopicPartition("views", 0): 15,
        TopicPartition("views", 1): 15,
    }
    least = admit_program(views, start, places(views), BatchLimits(rows=1))
    assert sum(least.values()) == 1


def test_a_limit_is_used_until_nothing_is_left(views: EmbeddedLog) -> None:
    at = dict.fromkeys(places(views), 0)
    for _ in range(20):
        after = admit_program(views, at, places(views), BatchLimits(rows=20))
        assert sum(after.values()) - sum(at.values()) <= 20
        at = after
    assert at == places(views)
