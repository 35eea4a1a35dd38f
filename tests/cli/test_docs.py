from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.shell import shell

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.usefixtures("working_directory")
def test_every_block_of_the_page_runs_as_it_stands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / "cli.md").read_text(), re.DOTALL)
    assert len(blocks) == 9
    ran = shell("set -eu -o pipefail\n" + "".join(blocks))
    assert ran.returncode == 0, ran
    assert "error [" not in ran.stderr
