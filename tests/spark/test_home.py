from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.spark.home import stable_home, unzipped_home


def test_spark_is_launched_without_zipped_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    with unzipped_home(tmp_path / "home"):
        home = Path(os.environ["SPARK_HOME"])
        assert (home / "bin" / "spark-submit").is_file()
        assert list((home / "jars").glob("spark-core_*.jar"))
        assert not (home / "python").exists()
    assert "SPARK_HOME" not in os.environ


def test_a_spark_of_the_user_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    with unzipped_home(tmp_path / "home"):
        assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert os.environ["SPARK_HOME"] == "/opt/spark"
    assert not (tmp_path / "home").exists()


def test_all_sessions_of_a_user_have_one_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = stable_home()
    assert home is not None
    assert home.is_relative_to(tmp_path / "cache")
    assert list((home / "jars").glob("spark-core_*.jar"))
    assert stable_home() == home
    with unzipped_home(home):
        assert os.environ["SPARK_HOME"] == str(home)


def test_where_the_cache_is_no_place_a_session_has_a_home_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert stable_home() is None
