"""`penstock package`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import Cli


def test_the_archive_is_written_where_it_is_asked_for(cli: Cli, tmp_path: Path) -> None:
    said = cli.ok("package", "--to", "lib", "--json").json
    archive = Path(said["archive"])
    assert archive.parent == Path("lib")
    assert archive.stat().st_size == said["bytes"]
    assert cli.ok("package", "--to", "lib").out.strip() == str(archive)
