from __future__ import annotations

from pathlib import Path

import pytest

from penstock import streams as ks
from penstock.errors import PenstockError


def program(home: Path) -> ks.KafkaStreams:
    builder = ks.StreamsBuilder()
    builder.stream("in").count_by_key("Counts").to_stream().to("out")
    return ks.KafkaStreams(builder, {"application.id": "app", "penstock.home": home})


def test_every_public_name_is_there() -> None:
    assert sorted(ks.__all__) == ks.__all__
    assert all(hasattr(ks, name) for name in ks.__all__)


def test_a_program_is_explained_part_by_part(tmp_path: Path) -> None:
    told = program(tmp_path).explain()
    assert "program app-0" in told
    assert "aggregate by _key" in told


def test_a_store_that_does_not_exist_is_corrected(tmp_path: Path) -> None:
    with pytest.raises(PenstockError, match="STREAMS_STORE") as caught:
        program(tmp_path).store("count")
    assert "Counts" in caught.value.hint


def test_what_was_never_started_is_closed_without_a_word(tmp_path: Path) -> None:
    streams = program(tmp_path)
    streams.close()
    assert (streams.state, streams.tasks) == ("created", ())
