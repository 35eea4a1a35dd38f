from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.cli.program_file import complete_file
from penstock.errors import PenstockError, UsageError
from penstock.project.program_file import load_program

SHOP = """
import penstock as ps
import beside

app = same = ps.App("shop")
views = app.stream("views", schema={"user": "string", "n": "int64"})
views.filter(ps.col("n") > 0).to("seen")

if __name__ == "__main__":
    raise SystemExit("not when loaded")
"""
TWO = 'import penstock as ps\none = ps.App("one")\ntwo = ps.App("two")\n'


@pytest.fixture
def folder(working_directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with programs."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (working_directory / "shop.py").write_text(SHOP)
    (working_directory / "beside.py").write_text("")
    (working_directory / "two.py").write_text(TWO)
    return working_directory


@pytest.mark.parametrize("place", ["shop.py", "shop.py:app", "shop.py:same", "./shop.py:app"])
def test_the_application_of_a_file_is_found(folder: Path, place: str) -> None:
    app = load_program(place)
    assert app.name == "shop"
    assert [sink.topic for sink in app.plan().sinks] == ["seen"]


def test_a_loaded_file_leaves_no_module_behind(folder: Path) -> None:
    # Functions of a module that can be imported would travel to Spark's workers by its name.
    load_program("shop.py")
    assert "shop" not in sys.modules


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("shop.py:ap", 'Did you mean "app"?'),
        ("two.py", "Name it: two.py:one, two.py:two."),
        ("two.py:app", "Name it: two.py:one, two.py:two."),
        ("beside.py", 'Make one at the top of the file: app = penstock.App("name").'),
    ],
)
def test_a_wrong_name_is_told_with_the_right_one(folder: Path, place: str, hint: str) -> None:
    with pytest.raises(UsageError, match="PROGRAM_MISSING") as caught:
        load_program(place)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 1\n1 / 0\n", "ZeroDivisionError: division by zero (line 2)"),
        ("def\n", "(line 1)"),
        ("import nowhere_at_all\n", "No module named 'nowhere_at_all' (line 1)"),
    ],
)
def test_a_file_that_stops_is_told_with_its_line(folder: Path, text: str, words: str) -> None:
    (folder / "bad.py").write_text(text)
    with pytest.raises(UsageError, match="PROGRAM_FILE") as caught:
        load_program("bad.py")
    assert words in caught.value.fact


def test_an_error_of_ours_stays_what_it_is(folder: Path) -> None:
    (folder / "bad.py").write_text(
        'import penstock as ps\nps.App("a").stream("t", schema={"a": "x"})'
    )
    with pytest.raises(PenstockError) as caught:
        load_program("bad.py")
    assert caught.value.code != "PROGRAM_FILE"


@pytest.mark.parametrize("place", ["none.py", ".", "notes.txt:app"])
def test_what_is_no_python_file_is_refused(folder: Path, place: str) -> None:
    (folder / "notes.txt").write_text("")
    with pytest.raises(UsageError, match="PROGRAM_FILE"):
        load_program(place)


def test_files_are_completed(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "more.py").write_text("")
    assert complete_file("s") == ["shop.py", "sub/"]
    assert complete_file("sub/") == ["sub/more.py"]
    assert complete_file("/nowhere/x") == []
