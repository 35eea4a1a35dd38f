from __future__ import annotations

from datetime import timedelta

import pytest

from penstock.errors import ConfigError
from penstock.jobs.said_settings import file_settings, settings_said
from penstock.model.job_settings import JOB_SETTINGS, JobSettings, Restart


def test_what_a_file_says_is_in_the_place_of_what_was_known() -> None:
    base = JobSettings(guarantee="at-most-once", restart=Restart(tries=9))
    said = {
        "recovery": "active",
        "latency": "500ms",
        "batch_rows": 10,
        "trim": True,
        "first_pause": "2s",
    }
    assert file_settings(base, {"shop": said}, "shop") == JobSettings(
        guarantee="at-most-once",
        recovery="active",
        latency=timedelta(milliseconds=500),
        batch_rows=10,
        trim=True,
        restart=Restart(tries=9, first_pause=timedelta(seconds=2)),
    )
    assert file_settings(base, {"shop": said}, "other") == base


def test_a_setting_that_does_not_exist_is_named() -> None:
    with pytest.raises(ConfigError, match="CONFIG_KEY") as caught:
        settings_said(JOB_SETTINGS, {"garantee": "exactly-once"}, "[jobs.shop]")
    assert caught.value.fact == 'setting "garantee" of a job does not exist ([jobs.shop])'
    assert caught.value.hint == 'Did you mean "guarantee"?'


@pytest.mark.parametrize(
    "said",
    [
        {"guarantee": "sometimes"},
        {"isolation": 1},
        {"latency": "fast"},
        {"latency": 5},
        {"batch_every": "0s"},
        {"batch_rows": 0},
        {"batch_rows": True},
        {"trim": "yes"},
        {"restarts": -1},
    ],
)
def test_a_value_of_another_kind_is_refused(said: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        settings_said(JOB_SETTINGS, said, "a flag")


def test_the_table_of_a_job_is_a_table() -> None:
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        file_settings(JOB_SETTINGS, {"shop": "fast"}, "shop")
