from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.broker import jars
from penstock.broker.jars import Jar, jars_folder, needed_jars, take_stock
from penstock.config import load_settings
from penstock.doctor.kafka import check_kafka
from penstock.errors import SetupError

SETTINGS = load_settings(environment={})
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"


@pytest.fixture
def one_jar(monkeypatch: pytest.MonkeyPatch) -> Jar:
    """A broker that consists of one jar, which says hello."""
    jar = Jar("org.example", "hello", "1.0", HELLO)
    monkeypatch.setattr(jars, "needed_jars", lambda: (jar,))
    return jar


def test_every_jar_is_pinned_by_its_checksum_and_none_twice() -> None:
    found = needed_jars()
    assert {"kafka_2.13", "kafka-tools", "log4j-slf4j-impl"} <= {jar.name for jar in found}
    assert len({jar.file_name for jar in found}) == len(found)
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) for jar in found)
    assert {jar.version for jar in found if jar.group == "org.apache.kafka"} == {"4.1.1"}


def test_jars_are_in_the_users_cache_unless_a_setting_says_where() -> None:
    assert jars_folder(SETTINGS, {"HOME": "/h"}) == Path("/h/.cache/penstock/kafka-4.1.1")
    cache = {"HOME": "/h", "XDG_CACHE_HOME": "/c"}
    assert jars_folder(SETTINGS, cache) == Path("/c/penstock/kafka-4.1.1")
    assert jars_folder(replace(SETTINGS, broker_jars=Path("/j")), cache) == Path("/j")


def test_a_folder_is_complete_when_every_byte_is_right(one_jar: Jar, tmp_path: Path) -> None:
    assert take_stock(tmp_path).missing == (one_jar.file_name,)
    (tmp_path / one_jar.file_name).write_text("hallo")
    assert take_stock(tmp_path).damaged == (one_jar.file_name,)
    (tmp_path / one_jar.file_name).write_text("hello")
    assert take_stock(tmp_path).complete


def test_the_doctor_says_whether_the_jars_are_there(one_jar: Jar, tmp_path: Path) -> None:
    settings = replace(SETTINGS, broker_jars=tmp_path)
    assert "1 jars are fetched by `penstock kafka up`" in check_kafka(settings)
    (tmp_path / one_jar.file_name).write_text("hello")
    assert check_kafka(settings) == f"4.1.1 ({tmp_path})"
    (tmp_path / one_jar.file_name).write_text("hallo")
    with pytest.raises(SetupError, match="BROKER_JAR_DAMAGED"):
        check_kafka(settings)
