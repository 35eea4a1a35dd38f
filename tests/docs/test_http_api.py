"""The commands of docs/http-api.md are run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.server import HttpServer

PAGE = Path(__file__).parents[2] / "docs" / "http-api.md"
_BLOCK = re.compile(r"```bash\n(.*?)```", re.DOTALL)


def test_the_commands_of_the_page_work(tmp_path: Path) -> None:
    script = "".join(_BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    assert script.count("curl") >= 15
    with (
        opened_platform(tmp_path / "home") as platform,
        HttpServer(application(platform)) as server,
    ):
        written = "set -e\n" + script.replace("http://127.0.0.1:8080", server.url)
        ran = subprocess.run(
            ["bash", "-c", written],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    assert "plain text" in ran.stdout
