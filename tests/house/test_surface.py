from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import penstock

HEAVY = ("numpy", "pandas", "polars", "pyarrow", "pyspark")


def loaded_after(script: str) -> set[str]:
    """The heavy packages that a fresh Python has loaded after a script."""
    last = f"import sys; print(*(n for n in {HEAVY!r} if n in sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", f"{script}\n{last}"], capture_output=True, check=True, text=True
    )
    return set(done.stderr.split())


def test_the_public_names_are_sorted_and_no_more_than_promised() -> None:
    assert sorted(penstock.__all__) == penstock.__all__
    assert {*penstock.__all__} == {*penstock._HOMES, "__version__"}


@pytest.mark.parametrize("name", penstock.__all__)
def test_every_public_name_leads_to_what_it_names(name: str) -> None:
    value = getattr(penstock, name)
    if name != "__version__":
        assert value is getattr(importlib.import_module(penstock._HOMES[name]), name)
        assert value.__name__ == name
    assert name in dir(penstock)


def test_a_name_that_is_not_there_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Prodcer'"):
        _ = penstock.Prodcer  # type: ignore[attr-defined]  # that is the point


def test_import_penstock_loads_nothing_heavy() -> None:
    assert loaded_after("import penstock; penstock.__version__; penstock.PenstockError") == set()


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["config", "show"]])
def test_the_command_line_starts_without_anything_heavy(arguments: list[str]) -> None:
    script = f"from penstock.cli.main import run\nassert run({arguments!r}) == 0"
    assert loaded_after(script) == set()


def test_a_heavy_import_would_be_seen() -> None:
    assert loaded_after("import numpy") == {"numpy"}


def test_reading_and_writing_a_log_does_not_load_pandas(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "import penstock as ps\n"
        "with ps.open_log(sys.argv[1]) as log:\n"
        "    log.create_topic('t', partitions=2)\n"
        "    with ps.Producer(log) as producer:\n"
        "        producer.send('t', b'a', key=b'k')\n"
        "        for partition in (0, 1, None):\n"
        "            producer.send('t', b'b', partition=partition)\n"
        "    with ps.Consumer(log, 't', start='earliest') as consumer:\n"
        "        while consumer.poll(0.01): pass\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
