"""The cells of notebook.md are run in a kernel, as they stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from tests.cli.shell import Cli
from tests.docs.pages import DOCS
from tests.docs.reader import BLOCK, prompted
from tests.notebook.kernel import kernel

SHOWN = ("", "ann", "home", "home", "agg-1")
"""What each cell of the page shows at last; below them are commands for a terminal."""


@pytest.mark.slow
def test_the_cells_of_the_page_show_what_they_are(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    click = rows_of_bytes([b'{"user":"ann","page":"home"}'])
    blocks = BLOCK.findall((DOCS / "notebook.md").read_text(encoding="utf-8"))
    cells = [cell for kind, cell in blocks if kind != "console"]
    with open_log(".penstock") as log, kernel(working_directory) as notebook:
        log.create_topic("clicks")
        for cell, shown in zip(cells, SHOWN, strict=True):
            assert not notebook.run(cell, cell=cell).error, cell
            log.append("clicks", 0, click)
            if shown:
                notebook.until(shown)
        for kind, block in blocks:
            if kind == "console":
                types(Cli(capsys, monkeypatch), block)


def types(cli: Cli, block: str) -> None:
    """Type what a block says while the job of the last cell runs; columns are those it shows."""
    for command, shown in prompted(block):
        said = cli.ok(*command.split()[1:]).out
        assert said.split()[:5] == shown.split()[:5] or not shown, said
