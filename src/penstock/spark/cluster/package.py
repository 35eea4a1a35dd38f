"""Penstock as an archive that executors import it from.

The archive holds this package alone, which is Python throughout. What it depends on is compiled
for a machine and must be there: see docs/deploy.md.
"""

from __future__ import annotations

import hashlib
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

_LEFT_OUT = ("__pycache__",)
# The same files give the same bytes, whenever they are packed.
_ALWAYS = (1980, 1, 1, 0, 0, 0)


def package_version() -> str:
    """Give the version of the package that runs."""
    # It is loaded, since this module is; to import it here would be to import upwards.
    return str(sys.modules["penstock"].__version__)


def package_folder() -> Path:
    """Give where the package that runs lies; inside of an archive, below its file."""
    return Path(str(sys.modules["penstock"].__file__)).parent


def build_package(folder: Path) -> Path:
    """Write the archive of the package that runs, named after its version and its content."""
    source = package_folder()
    found = sorted(_files(source))
    digest = hashlib.sha256()
    for path in found:
        digest.update(f"{path.relative_to(source)}\0".encode() + path.read_bytes())
    name = f"penstock-{package_version()}-{digest.hexdigest()[:12]}.zip"
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{name}.new"
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in found:
            entry = zipfile.ZipInfo(f"penstock/{path.relative_to(source)}", _ALWAYS)
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return fresh.replace(folder / name)


def _files(source: Path) -> Iterator[Path]:
    for path in source.rglob("*"):
        if path.is_file() and not any(part in _LEFT_OUT for part in path.parts):
            yield path
