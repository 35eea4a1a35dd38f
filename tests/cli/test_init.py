from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.main import run
from penstock.project.dashboard_files import dashboard_files

FILES = {
    ".gitignore", "README.md", "clicks.sql", "dashboards/clicks.toml", "penstock.toml",
    "people.py", "test_people.py",
}  # fmt: skip


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_new_project_passes_its_own_test_and_can_be_planned_and_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PENSTOCK_HOME", raising=False)
    assert run(["init", "shop"]) == 0
    assert "next: cd shop && penstock dev" in capsys.readouterr().err
    shop = tmp_path / "shop"
    assert files(shop) == FILES
    assert (shop / "README.md").read_text().startswith("# shop\n")
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"],
        cwd=shop,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in tested.stdout, tested.stdout + tested.stderr
    monkeypatch.chdir(shop)
    assert run(["plan"]) == 2
    assert run(["apply", "--yes"]) == 0
    assert 'job "people" is created' in capsys.readouterr().out
    assert run(["plan"]) == 0
    assert run(["alerts", "list"]) == 0
    (dashboard,) = (dashboard_files(shop / ".penstock").get(name) for name in ("clicks",))
    assert [panel.kind for panel in dashboard.panels] == ["bar", "table"]


def test_a_directory_that_has_a_project_is_left_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "penstock.toml").write_text("debug = false\n")
    assert run(["init", str(tmp_path)]) == 2
    assert "PROJECT_THERE" in capsys.readouterr().err
    assert files(tmp_path) == {"penstock.toml"}


def test_a_file_is_no_place_for_a_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop").write_text("")
    assert run(["init", str(tmp_path / "shop")]) == 2
    assert "PROJECT_DIRECTORY" in capsys.readouterr().err
