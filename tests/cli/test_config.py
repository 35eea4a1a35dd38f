from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli.main import run


def test_config_show_lists_every_setting(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["config", "show"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "key",
        "debug",
        "home",
        "registry.url",
        "spark.driver_memory",
        "spark.master",
        "state.database",
        "state.store",
    ]
    assert lines[2].split() == ["home", str(working_directory / ".penstock")]


def test_config_show_origin_says_where_each_setting_comes_from(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (working_directory / "penstock.toml").write_text("debug = false\n")
    monkeypatch.setenv("PENSTOCK_SPARK_MASTER", "local[1]")
    assert run(["config", "show", "--origin", "--json", "--home", "elsewhere"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert {key: setting["origin"] for key, setting in shown.items()} == {
        "debug": f"{working_directory / 'penstock.toml'}:1",
        "home": "flag --home",
        "registry.url": "default",
        "spark.driver_memory": "default",
        "spark.master": "variable PENSTOCK_SPARK_MASTER",
        "state.database": "default",
        "state.store": "default",
    }
    assert shown["home"]["value"] == str(working_directory / "elsewhere")


def test_config_show_json_gives_values_with_their_types(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--debug", "config", "show", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["debug"] is True
    assert shown["spark.master"] == "local[*]"


def test_config_show_names_the_misspelt_key_of_a_file(
    working_directory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (working_directory / "penstock.toml").write_text('hoem = "x"\n')
    assert run(["config", "show"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        f'error [CONFIG_KEY] setting "hoem" does not exist ({working_directory}/penstock.toml:1)\n'
        '  Did you mean "home"?\n'
    )
