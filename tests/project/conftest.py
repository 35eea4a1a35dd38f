from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.projects import Directory


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Directory:
    """A directory for a project, and a home for it."""
    return Directory(tmp_path / "project", tmp_path / "home", capsys)
