from __future__ import annotations

from pathlib import Path

import pytest

from penstock.config import load_settings, stray_variables
from penstock.errors import ConfigError


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_without_any_setting_the_log_is_below_the_working_directory(tmp_path: Path) -> None:
    settings = load_settings(environment={}, directory=tmp_path)
    assert settings.home == tmp_path / ".penstock"
    assert settings.log_directory == tmp_path / ".penstock" / "log"
    assert settings.spark_master == "local[*]"
    assert settings.debug is False
    assert set(settings.origins.values()) == {"default"}


def test_each_place_wins_over_the_ones_after_it(tmp_path: Path) -> None:
    user = write(tmp_path / "xdg/penstock/config.toml", '[spark]\nmaster = "user"\n')
    project = write(tmp_path / "work/penstock.toml", '[spark]\nmaster = "project"\n')
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    variable = {"PENSTOCK_SPARK_MASTER": "variable"}
    here = project.parent

    def master(flags: dict[str, str | bool], variables: dict[str, str]) -> tuple[str, str]:
        settings = load_settings(flags, environment=variables, directory=here)
        return settings.spark_master, settings.origins["spark.master"]

    assert master({"spark.master": "flag"}, environment | variable) == ("flag", "flag --master")
    assert master({}, environment | variable) == ("variable", "variable PENSTOCK_SPARK_MASTER")
    assert master({}, environment) == ("project", f"{project}:2")
    project.unlink()
    assert master({}, environment) == ("user", f"{user}:2")
    user.unlink()
    assert master({}, environment) == ("local[*]", "default")


def test_a_place_that_sets_one_key_leaves_the_others_to_the_next(tmp_path: Path) -> None:
    write(tmp_path / "penstock.toml", 'debug = true\n[spark]\ndriver_memory = "2G"\n')
    settings = load_settings({"home": "x"}, environment={}, directory=tmp_path)
    assert (settings.debug, settings.spark_driver_memory) == (True, "2g")
    assert settings.origins["home"] == "flag --home"
    assert settings.origins["spark.driver_memory"].endswith("penstock.toml:3")


def test_the_project_file_is_found_upwards_and_its_paths_are_its_own(tmp_path: Path) -> None:
    write(tmp_path / "penstock.toml", 'home = "data/log"\n')
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert load_settings(environment={}, directory=below).home == tmp_path / "data" / "log"


def test_the_nearest_project_file_is_the_only_one_read(tmp_path: Path) -> None:
    write(tmp_path / "penstock.toml", "debug = true\n")
    write(tmp_path / "a/penstock.toml", 'home = "h"\n')
    assert load_settings(environment={}, directory=tmp_path / "a").debug is False


def test_without_xdg_the_user_file_is_below_the_home_directory(tmp_path: Path) -> None:
    write(tmp_path / ".config/penstock/config.toml", "debug = true\n")
    settings = load_settings(environment={"HOME": str(tmp_path)}, directory=tmp_path)
    assert settings.debug is True


def test_a_relative_variable_is_relative_to_the_working_directory(tmp_path: Path) -> None:
    settings = load_settings(environment={"PENSTOCK_HOME": "../x"}, directory=tmp_path / "a")
    assert settings.home == tmp_path / "x"


def test_an_empty_variable_sets_nothing(tmp_path: Path) -> None:
    settings = load_settings(environment={"PENSTOCK_HOME": ""}, directory=tmp_path)
    assert settings.origins["home"] == "default"


@pytest.mark.parametrize(
    ("text", "name", "line", "hint"),
    [
        ('\nhoem = "x"\n', "hoem", 2, 'Did you mean "home"?'),
        ('debug = true\n[spark]\n# no\nmastr = "x"\n', "spark.mastr", 4, 'mean "spark.master"?'),
        ('spark.mastr = "x"\n', "spark.mastr", 1, 'Did you mean "spark.master"?'),
        ('\nspark = { mastr = "x" }\n', "spark.mastr", 2, 'Did you mean "spark.master"?'),
        ("\n\n[zebra]\n", "zebra", 3, "Settings: debug, home"),
    ],
)
def test_a_misspelt_key_is_named_with_its_line_and_corrected(
    tmp_path: Path, text: str, name: str, line: int, hint: str
) -> None:
    file = write(tmp_path / "penstock.toml", text)
    with pytest.raises(ConfigError, match="CONFIG_KEY") as caught:
        load_settings(environment={}, directory=tmp_path)
    assert caught.value.fact == f'setting "{name}" does not exist ({file}:{line})'
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("variable", "value", "kind"),
    [
        ("PENSTOCK_DEBUG", "perhaps", "true or false"),
        ("PENSTOCK_SPARK_DRIVER_MEMORY", "lots", 'a size such as "2g"'),
        ("PENSTOCK_SPARK_DRIVER_MEMORY", "0g", 'a size such as "2g"'),
        ("PENSTOCK_STATE_STORE", "disk", "one of memory, local, changelog, external"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named_with_its_origin(
    tmp_path: Path, variable: str, value: str, kind: str
) -> None:
    with pytest.raises(ConfigError, match="CONFIG_VALUE") as caught:
        load_settings(environment={variable: value}, directory=tmp_path)
    assert variable in caught.value.fact
    assert f"is not {kind}" in caught.value.fact


@pytest.mark.parametrize("text", ["home = 3\n", 'home = ""\n', "spark.master = true\n"])
def test_a_file_cannot_set_a_key_to_another_type(tmp_path: Path, text: str) -> None:
    write(tmp_path / "penstock.toml", text)
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        load_settings(environment={}, directory=tmp_path)


@pytest.mark.parametrize("content", [b"home = \n", b"\xff\xfe"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "penstock.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="CONFIG_FILE") as caught:
        load_settings(environment={}, directory=tmp_path)
    assert str(file) in caught.value.fact


@pytest.mark.parametrize(("text", "expected"), [("1", True), ("YES", True), ("off", False)])
def test_a_variable_may_say_yes_in_several_ways(tmp_path: Path, text: str, expected: bool) -> None:
    settings = load_settings(environment={"PENSTOCK_DEBUG": text}, directory=tmp_path)
    assert settings.debug is expected


def test_a_variable_that_sets_nothing_is_found() -> None:
    stray = stray_variables({"PENSTOCK_HOEM": "x", "PENSTOCK_HOME": "y", "PATH": "z"})
    assert stray == {"PENSTOCK_HOEM": 'Did you mean "PENSTOCK_HOME"?'}


def test_a_database_is_an_address_or_a_path_of_the_file_that_names_it(tmp_path: Path) -> None:
    write(tmp_path / "penstock.toml", '[state]\ndatabase = "kept/state.db"\n')
    below = tmp_path / "a"
    below.mkdir()
    found = load_settings(environment={}, directory=below)
    assert found.state_database == str(tmp_path / "kept" / "state.db")
    address = {"PENSTOCK_STATE_DATABASE": "postgresql://host/db"}
    assert load_settings(environment=address, directory=below).state_database == (
        "postgresql://host/db"
    )
    with pytest.raises(ConfigError, match="CONFIG_VALUE"):
        load_settings({"state.database": True}, environment={}, directory=below)


def test_serdes_and_the_topics_bound_to_them_have_names_of_the_users_own(tmp_path: Path) -> None:
    write(
        tmp_path / "xdg/penstock/config.toml",
        '[serdes]\njson = "json"\ntext = "string"\n[topics.Words]\nvalue = "text"\n',
    )
    write(
        tmp_path / "work/penstock.toml",
        '[serdes]\ntext = "bytes"\nproperties = "job.properties"\n[topics.other]\nvalue = "json"\n',
    )
    environment = {"XDG_CONFIG_HOME": str(tmp_path / "xdg")}
    settings = load_settings(environment=environment, directory=tmp_path / "work")
    assert settings.serdes == {
        "json": "json",
        "text": "bytes",
        "properties": str(tmp_path / "work" / "job.properties"),
    }
    assert settings.topics == {"Words": {"value": "text"}, "other": {"value": "json"}}


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "penstock.toml", 'serdes = "json"\n')
    with pytest.raises(ConfigError, match="CONFIG_VALUE") as caught:
        load_settings(environment={}, directory=tmp_path)
    assert caught.value.hint == "Write it as a table: [serdes]."
