from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.house.survey import ROOT, tracked_files

INDEX_VARIABLES = (
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_INDEX",
    "UV_INDEX_URL",
)
PUBLIC_HOSTS = {"pypi.org", "files.pythonhosted.org"}


def of_this_machine() -> list[str]:
    """Paths and hosts that only this machine knows."""
    places = [f"{ROOT}/", f"{Path.home()}/"]
    for variable in INDEX_VARIABLES:
        for value in os.environ.get(variable, "").split():
            host = urlsplit(value).hostname or ""
            places.append(host or value)
    return [place for place in places if len(place) > 2 and place not in PUBLIC_HOSTS]


def mentions(files: list[Path], needles: list[str]) -> list[str]:
    """The places in text files that hold one of the needles."""
    found = []
    for file in files:
        text = file.read_bytes().decode("utf-8", errors="replace")
        found += [f"{file}: {needle}" for needle in needles if needle in text]
    return found


def test_no_file_knows_this_machine() -> None:
    assert mentions(tracked_files(), of_this_machine()) == []


def test_the_lock_names_no_host_and_hashes_everything() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    assert re.findall(r"https?://|--(?:extra-)?index-url|--find-links|file:| @ ", lock) == []
    entries = re.split(r"^(?=[a-z])", lock, flags=re.MULTILINE)[1:]
    assert len(entries) > 30
    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_no_lock_of_uv_is_kept() -> None:
    assert [file for file in tracked_files() if file.name == "uv.lock"] == []
    assert "uv.lock" in (ROOT / ".gitignore").read_text().split()


def test_a_mention_would_be_found(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(f'home = "{ROOT}/x"\n')
    assert mentions([file], [f"{ROOT}/"]) == [f"{file}: {ROOT}/"]
