from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.shell import shell

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql.md"


@pytest.mark.slow
@pytest.mark.usefixtures("working_directory")
def test_every_block_of_the_page_on_sql_runs_as_it_stands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    ran = shell("set -eu -o pipefail\n" + "".join(blocks))
    assert ran.returncode == 0, ran
    assert "milk  1" in ran.stdout
