"""The dashboards of a project: read again where their files have changed."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.config import PROJECT_FILE
from penstock.errors import ConfigError, did_you_mean
from penstock.project.dashboard import (
    Dashboard,
    dashboard_text,
    read_dashboard,
    require_dashboard_name,
)

FOLDER = "dashboards"
_SUFFIX = ".toml"


def dashboard_files(home: Path, directory: Path | None = None) -> DashboardFiles:
    """Give the dashboards beside the nearest `penstock.toml`, or beside the home without one."""
    start = Path.cwd() if directory is None else directory
    for folder in (start, *start.parents):
        if (folder / PROJECT_FILE).is_file():
            return DashboardFiles(folder / FOLDER)
    return DashboardFiles(home.absolute().parent / FOLDER)


@dataclass(frozen=True, slots=True)
class Stamped:
    """A dashboard, and what tells whether its file has changed since."""

    dashboard: Dashboard
    stamp: tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class DashboardFiles:
    """A folder with a file for each dashboard."""

    folder: Path

    def names(self) -> tuple[str, ...]:
        """Give all names, sorted."""
        try:
            found = [path.stem for path in self.folder.iterdir() if path.suffix == _SUFFIX]
        except (FileNotFoundError, NotADirectoryError):
            return ()
        return tuple(sorted(name for name in found if _allowed(name)))

    def get(self, name: str) -> Dashboard:
        """Read a dashboard."""
        return self.stamped(name).dashboard

    def stamped(self, name: str) -> Stamped:
        """Read a dashboard, and tell which version of the file it is."""
        path = self._path(name)
        stamp = self.stamp(name)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ConfigError(
                "DASHBOARD_MISSING",
                f'dashboard "{name}" does not exist',
                hint=did_you_mean(name, self.names()) or f'Make one, or write "{path}".',
            ) from None
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
            raise ConfigError(
                "DASHBOARD_FILE", f'"{path}" cannot be read: {why}', hint="Correct the file."
            ) from error
        return Stamped(read_dashboard(name, text, str(path)), stamp)

    def stamp(self, name: str) -> tuple[int, int, int]:
        """Tell the version of a file without reading it; all zero where there is none."""
        try:
            found = self._path(name).stat()
        except OSError:
            return (0, 0, 0)
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def save(self, dashboard: Dashboard, expected: tuple[int, int, int] | None = None) -> Stamped:
        """Write a dashboard; where its file is not the `expected` one that is refused."""
        path = self._path(dashboard.name)
        if expected is not None and self.stamp(dashboard.name) != expected:
            raise ConfigError(
                "DASHBOARD_CHANGED",
                f'"{path}" was changed by somebody else meanwhile',
                hint="Load the page again, and make your changes anew.",
            )
        text = dashboard_text(dashboard)
        read_dashboard(dashboard.name, text, str(path))
        with self._writable(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, partial = tempfile.mkstemp(dir=self.folder, suffix=".partial")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(text)
                Path(partial).chmod(0o644)
                Path(partial).replace(path)
            except BaseException:
                Path(partial).unlink(missing_ok=True)
                raise
        return Stamped(dashboard, self.stamp(dashboard.name))

    def remove(self, name: str) -> None:
        """Delete the file of a dashboard."""
        path = self._path(name)
        with self._writable(path):
            path.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _writable(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise ConfigError(
                "DASHBOARD_FILE",
                f'"{path}" cannot be written: {error.strerror}',
                hint="Let the server's user write to the folder.",
            ) from error

    def _path(self, name: str) -> Path:
        return self.folder / f"{require_dashboard_name(name)}{_SUFFIX}"


def _allowed(name: str) -> bool:
    try:
        require_dashboard_name(name)
    except ConfigError:
        return False
    return True
