from __future__ import annotations

from dataclasses import fields
from datetime import timedelta
from typing import cast

import pytest

from penstock.errors import UsageError
from penstock.log.consumer_config import ConsumerConfig, ConsumerSettings, consumer_config


def test_every_setting_is_a_keyword_and_the_other_way_round() -> None:
    assert set(ConsumerSettings.__annotations__) == {item.name for item in fields(ConsumerConfig)}


def test_a_misspelt_setting_is_named_and_corrected() -> None:
    settings = cast("ConsumerSettings", {"auto_comit": None})
    with pytest.raises(UsageError, match="CONSUMER_SETTING") as caught:
        consumer_config(settings)
    assert caught.value.hint == 'Did you mean "auto_commit"?'


@pytest.mark.parametrize(
    "settings",
    [
        {"max_poll_records": 0},
        {"fetch_bytes": -1},
        {"session_timeout": timedelta(0)},
        {"max_poll_interval": timedelta(milliseconds=1)},
        {"start": "erliest"},
        {"out_of_range": "skip"},
        {"isolation": "comitted"},
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(settings: ConsumerSettings) -> None:
    with pytest.raises(UsageError, match="CONSUMER_SETTING"):
        consumer_config(settings)
