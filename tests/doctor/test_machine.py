from __future__ import annotations

from pathlib import Path

import pytest

from penstock.config import Settings, load_settings
from penstock.doctor import machine
from penstock.doctor.machine import check_memory, check_variables, free_memory, in_words
from penstock.errors import ConfigError, SetupError


def settings(memory: str = "1g") -> Settings:
    return load_settings({"spark.driver_memory": memory}, environment={})


def a_meminfo(folder: Path, kilobytes: int) -> Path:
    file = folder / "meminfo"
    file.write_text(f"MemTotal: 99999999 kB\nMemAvailable:   {kilobytes} kB\nBuffers: 1 kB\n")
    return file


def test_free_memory_is_what_the_kernel_says_is_available(tmp_path: Path) -> None:
    assert free_memory(a_meminfo(tmp_path, 2048), ()) == 2 * 2**20


@pytest.mark.parametrize(("limit", "expected"), [("1048576\n", 2**20), ("max\n", 2 * 2**20)])
def test_the_limit_of_a_container_counts(tmp_path: Path, limit: str, expected: int) -> None:
    file = tmp_path / "memory.max"
    file.write_text(limit)
    missing = tmp_path / "missing"
    assert free_memory(a_meminfo(tmp_path, 2048), (missing, file)) == expected


def test_where_the_kernel_does_not_tell_the_memory_built_in_counts(tmp_path: Path) -> None:
    assert free_memory(tmp_path / "missing", ()) > 2**26


def test_too_little_memory_for_spark_fails_with_what_is_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(machine, "free_memory", lambda: 2**30)
    with pytest.raises(SetupError, match="MEMORY_LOW") as caught:
        check_memory(settings("2g"))
    assert caught.value.fact == "1.0 GiB of memory are free; Spark with 2g needs 2.5 GiB"
    assert "PENSTOCK_SPARK_DRIVER_MEMORY" in caught.value.hint
    assert check_memory(settings("256m")) == "1.0 GiB free, 768.0 MiB needed"


def test_a_variable_with_our_prefix_that_is_no_setting_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert check_variables(settings())
    monkeypatch.setenv("PENSTOCK_HOEM", "x")
    with pytest.raises(ConfigError, match="CONFIG_VARIABLE") as caught:
        check_variables(settings())
    assert caught.value.hint == 'Did you mean "PENSTOCK_HOME"?'


def test_sizes_read_as_people_write_them() -> None:
    assert [in_words(n) for n in (5, 2048, 3 * 2**20, 5 * 2**29)] == [
        "5 B",
        "2.0 KiB",
        "3.0 MiB",
        "2.5 GiB",
    ]
