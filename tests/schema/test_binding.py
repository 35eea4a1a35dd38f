from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.schema.binding import Bound, bindings_of, serde_format
from penstock.schema.codec.format import Format


def test_topics_are_bound_to_serdes_by_name() -> None:
    serdes = {
        "text": "string",
        "pipes": {"format": "delimited", "delimiter": "|"},
        "users": {"format": "avro", "subject": "users-value"},
        "lines": {"class": "org.apache.samza.serializers.StringSerdeFactory"},
        "loose": {"format": "json", "lenient": True},
    }
    topics = {
        "Words": {"value": "text"},
        "rows": {"value": "pipes", "key": "lines"},
        "users": {"value": "users"},
        "loose": {"value": "loose"},
        "plain": {"value": "json"},
    }
    assert bindings_of(serdes, topics) == {
        "Words": Bound(value=Format("string")),
        "rows": Bound(Format("string"), Format("delimited").with_options(delimiter="|")),
        "users": Bound(value=Format("avro", subject="users-value")),
        "loose": Bound(value=Format("json").with_options(lenient="true")),
        "plain": Bound(value=Format("json")),
    }


def test_a_format_that_needs_a_subject_has_that_of_its_topic() -> None:
    found = bindings_of({}, {"views": {"value": "avro", "key": "avro"}})
    assert found["views"] == Bound(
        Format("avro", subject="views-key"), Format("avro", subject="views-value")
    )


def test_what_the_tables_say_wins_over_the_properties_of_a_samza_job(tmp_path: Path) -> None:
    file = tmp_path / "job.properties"
    file.write_text(
        "serializers.registry.json.class=org.apache.samza.serializers.JsonSerdeFactory\n"
        "systems.kafka.streams.Words.samza.msg.serde=json\n"
        "systems.kafka.streams.Other.samza.msg.serde=json\n"
    )
    found = bindings_of({"properties": str(file)}, {"Other": {"value": "string"}})
    assert found == {"Words": Bound(value=Format("json")), "Other": Bound(value=Format("string"))}


@pytest.mark.parametrize(
    ("serdes", "topics", "code", "hint"),
    [
        ({"text": "string"}, {"t": {"value": "txt"}}, "SERDE_NAME", 'Did you mean "text"?'),
        ({}, {"t": {"value": "jsn"}}, "SERDE_NAME", 'Did you mean "json"?'),
        ({"a": "jsn"}, {"t": {"value": "a"}}, "SERDE_CONFIG", 'Did you mean "json"?'),
        ({"a": 5}, {"t": {"value": "a"}}, "SERDE_CONFIG", 'a = "json"'),
        ({"a": {}}, {"t": {"value": "a"}}, "SERDE_CONFIG", 'a = { format = "json" }'),
        ({"a": {"class": "x.Y"}}, {"t": {"value": "a"}}, "SERDE_CONFIG", "JsonSerde"),
        ({}, {"t": "json"}, "SERDE_CONFIG", '[topics.t] with value = "json"'),
        ({}, {"t": {"vale": "json"}}, "SERDE_CONFIG", "[topics.t]"),
        ({"properties": "/nowhere/x"}, {}, "CONFIG_FILE", "[serdes] properties"),
    ],
)
def test_what_is_misspelt_is_named_and_corrected(
    serdes: dict[str, object], topics: dict[str, object], code: str, hint: str
) -> None:
    with pytest.raises(ConfigError, match=code) as caught:
        bindings_of(serdes, topics)
    assert hint in caught.value.hint


def test_a_serde_may_be_a_format_with_its_options() -> None:
    assert serde_format("delimited(delimiter=;)", {}) == Format("delimited").with_options(
        delimiter=";"
    )
