from __future__ import annotations

import pytest

from penstock.errors import SchemaError
from penstock.schema.samza import class_format, samza_tables

# As it stands in the customer's document, with the comment behind the last line.
WORD_COUNT = """
task.class=com.example.samza.Wordcount
systems.kafka.samza.factory=org.apache.samza.system.kafka.KafkaSystemFactory
task.inputs=kafka.Words
serializers.registry.json.class=org.apache.samza.serializers.JsonSerdeFactory
systems.kafka.streams.Words.samza.msg.serde=json # Use the "json" serializer for messages
"""


def test_the_serdes_of_a_job_are_read_and_bound_to_its_streams() -> None:
    found = samza_tables(WORD_COUNT)
    assert found.serdes == {"json": "json"}
    assert found.topics == {"Words": {"value": "json"}}


def test_a_system_speaks_for_the_streams_that_the_job_reads() -> None:
    found = samza_tables(
        "# comment = no\n! neither = this\n"
        "task.inputs=kafka.page.views, kafka.b,other.c\n"
        "systems.kafka.samza.key.serde : string\n"
        "systems.kafka.samza.msg.serde json\n"
        "systems.kafka.streams.b.samza.msg.serde = \\\n    string\n"
        "streams.d.samza.msg.serde=string\n"
        "serializers.registry.string.class=x.y.StringSerde\n"
    )
    assert found.topics == {
        "page.views": {"key": "string", "value": "json"},
        "b": {"key": "string", "value": "string"},
        "d": {"value": "string"},
    }


def test_a_class_that_nobody_knows_is_refused() -> None:
    assert class_format("org.apache.samza.serializers.LongSerdeFactory").name == "long"
    with pytest.raises(SchemaError, match="SERDE_CLASS") as caught:
        class_format("com.example.MySerde")
    assert "JsonSerde" in caught.value.hint
