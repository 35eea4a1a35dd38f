"""Everything that is needed may be used by anyone, for anything, and no key opens a part of it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.markers import Marker

from penstock import config
from tests.house.survey import ROOT, modules

ALLOWED = {
    "0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MIT-0",
    "MPL-2.0", "PSF-2.0", "Unlicense", "Zlib",
}  # fmt: skip
"""Licences that ask for nothing but to be named, and one that asks for changes of its own files."""

DECIDED = {
    "crc32c": {"LGPL-2.1-or-later"},
    "docutils": {"BSD-3-Clause", "GNU General Public License (GPL)"},
    "psycopg": {"LGPL-3.0-only"},
    "psycopg-binary": {"LGPL-3.0-only"},
}
"""Used as they come, as modules of their own that a user may replace: so the LGPL allows it.

psycopg is an extra, for those who keep their results in PostgreSQL. docutils comes with NiceGUI; it
is in the public domain but for some files, and the one under the GPL is a mode of an editor.
"""

ELSEWHERE = {"appnope"}
"""Under BSD-2-Clause, for macOS only, and so not there to be asked: it comes with ipykernel."""

SPOKEN = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD": "BSD-3-Clause",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",
    "GNU Lesser General Public License v2 or later (LGPLv2+)": "LGPL-2.1-or-later",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
"""What packages without a licence expression say, in the words of SPDX."""

POSIX = (
    {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
)
KEYS = re.compile(
    r"licen[cs]e.?key|licen[cs]e.?(file|server|check)|activation|entitle|product.?key|serial.?key"
    r"|premium|paid.?(plan|feature)|enterprise.?(edition|feature)|trial.?(period|version|end)",
    re.IGNORECASE,
)
ENVIRONMENT = re.compile(r"""(?:environ(?:\.get)?|getenv)[\[(]\s*["'](\w+)["']""")


def locked() -> Iterator[tuple[str, str]]:
    """The packages of the lock, and where each is asked for."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pattern = re.compile(r"^([A-Za-z0-9._-]+)==\S+(?: ; (.+?))?(?: \\)?$", re.MULTILINE)
    yield from pattern.findall(text)


def asked_for(marker: str) -> bool:
    """Whether a package is for one of the systems that we run on."""
    return not marker or any(Marker(marker).evaluate(system) for system in POSIX)


def licences(name: str) -> set[str]:
    """The licences that an installed package names, whatever it calls them."""
    found = distribution(name).metadata
    for expression in found.get_all("License-Expression") or ():
        # All of them, though one of several might be chosen: so there is nothing to decide.
        return set(re.findall(r"[A-Za-z0-9][A-Za-z0-9.+-]*", expression)) - {"AND", "OR", "WITH"}
    classes = [item.split(" :: ") for item in found.get_all("Classifier") or ()]
    said = [parts[-1] for parts in classes if parts[0] == "License" and parts[1] == "OSI Approved"]
    said = said or found.get_all("License") or []
    return {SPOKEN.get(item, item) for item in said}


def names() -> list[str]:
    return sorted({name for name, marker in locked() if asked_for(marker)})


def test_the_whole_lock_is_looked_at() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pinned = [line for line in text.splitlines() if re.match(r"[A-Za-z0-9]", line)]
    assert len(list(locked())) == len(pinned)
    assert len(names()) > 50


def test_every_package_has_a_licence_that_is_allowed_or_was_decided_on() -> None:
    missing, others = [], {}
    for name in names():
        try:
            found = licences(name)
        except PackageNotFoundError:
            missing.append(name)
            continue
        if not found <= ALLOWED and found != DECIDED.get(name):
            others[name] = sorted(found)
    assert others == {}
    assert set(missing) <= ELSEWHERE


def test_nothing_is_decided_that_nobody_needs() -> None:
    assert sorted(set(DECIDED) - set(names())) == []
    assert [name for name, licence in DECIDED.items() if licences(name) != licence] == []


def test_the_wheel_is_under_the_apache_licence_and_carries_it(tmp_path: Path) -> None:
    built = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with zipfile.ZipFile(built) as wheel:
        inside = wheel.namelist()
        metadata = next(name for name in inside if name.endswith(".dist-info/METADATA"))
        found = message_from_bytes(wheel.read(metadata))
        text = wheel.read(next(name for name in inside if name.endswith("/licenses/LICENSE")))
    assert found["License-Expression"] == "Apache-2.0"
    assert found.get_all("License-File") == ["LICENSE"]
    assert text == (ROOT / "LICENSE").read_bytes()
    assert b"Apache License" in text
    assert b"Version 2.0, January 2004" in text


def test_no_source_file_asks_for_a_key() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in modules()
        for match in KEYS.finditer(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_no_setting_is_a_key() -> None:
    read = {key.variable for key in config.KEYS}
    for file in modules():
        read |= set(ENVIRONMENT.findall(file.read_text(encoding="utf-8")))
    assert {"PENSTOCK_HOME", "NO_COLOR"} <= read
    assert [name for name in read if re.search(r"LICEN[CS]E|_KEY$|ACTIVAT|SUBSCRI", name)] == []


@pytest.mark.parametrize(
    "text", ["LICENSE_KEY", "license key", "licence_server", "enterprise edition", "activation"]
)
def test_what_asks_for_a_key_would_be_found(text: str) -> None:
    assert KEYS.search(f"value = read({text!r})")
