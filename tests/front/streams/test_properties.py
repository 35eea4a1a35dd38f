from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.front.streams.properties import Properties, properties


def test_an_application_needs_nothing_but_a_name() -> None:
    assert properties({"application.id": "app"}) == Properties("app")


def test_all_that_can_be_said_is_heard() -> None:
    said = properties(
        {
            "application.id": "app",
            "penstock.home": "/tmp/home",
            "state.dir": Path("/tmp/state"),
            "penstock.engine": "spark",
            "processing.guarantee": "exactly_once_v2",
            "commit.interval.ms": 250,
            "max.poll.records": "7",
        }
    )
    home, state = Path("/tmp/home"), Path("/tmp/state")
    assert said == Properties(
        "app", home, state, "spark", exactly_once=True, commit_seconds=0.25, records=7
    )


def test_exactly_once_commits_more_often() -> None:
    said = properties({"application.id": "app", "processing.guarantee": "exactly_once"})
    assert said.commit_seconds == 0.1


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "application.id"),
        ({"application.id": " "}, "application.id"),
        ({"application.id": "a", "commit.interval": 1}, "commit.interval"),
        ({"application.id": "a", "commit.interval.ms": 0}, "commit.interval.ms"),
        ({"application.id": "a", "max.poll.records": "many"}, "max.poll.records"),
        ({"application.id": "a", "processing.guarantee": "twice"}, "processing.guarantee"),
        ({"application.id": "a", "penstock.engine": "flink"}, "penstock.engine"),
        ({"application.id": "a", "penstock.home": 5}, "penstock.home"),
    ],
)
def test_what_does_not_fit_is_named(given: dict[str, object], told: str) -> None:
    with pytest.raises(ConfigError, match="STREAMS_PROPERTY") as caught:
        properties(given)
    assert told in caught.value.fact


def test_a_misspelt_property_is_corrected() -> None:
    with pytest.raises(ConfigError) as caught:
        properties({"aplication.id": "a"})
    assert '"application.id"' in caught.value.hint
