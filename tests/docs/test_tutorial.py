"""The tutorial goes as it is written, from an empty directory on."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.project.dashboard_files import DashboardFiles
from tests.cli.shell import Cli
from tests.docs.pages import DOCS

PAGE = DOCS / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"# (\S+\.(?:py|toml))\n")
# A shell reads the commands and what they are given; they are run in this process.
RECORDER = """set -eu
penstock() {
  n=$(ls call.* 2>/dev/null | wc -l); printf '%s\\0' "$@" > call.$n; cat > given.$n
}
"""


class Reader:
    """Somebody who does what a page says."""

    def __init__(self, cli: Cli) -> None:
        self._cli = cli
        self._names: dict[str, object] = {"__name__": "page"}

    def does(self, kind: str, block: str) -> str:
        """Do what a block says, and give what is printed."""
        named = NAMED.match(block)
        if named or kind == "json":
            path = Path(named[1] if named else "visits.jsonl")
            path.parent.mkdir(exist_ok=True)
            path.write_text(block, encoding="utf-8")
            return ""
        if kind == "python":
            output = io.StringIO()
            with redirect_stdout(output):
                exec(compile(block, "tutorial.md", "exec"), self._names)
            return output.getvalue()
        return self._types(block) if kind == "sh" else ""

    def _types(self, block: str) -> str:
        subprocess.run(
            ["bash", "-c", RECORDER + block], check=True, timeout=20, stdin=subprocess.DEVNULL
        )
        said = ""
        for call in sorted(Path().glob("call.*")):
            given = call.with_name(call.name.replace("call", "given"))
            said += self._cli.ok(*call.read_text().split("\0")[:-1], stdin=given.read_bytes()).out
            call.unlink()
            given.unlink()
        return said


@pytest.mark.spark
def test_the_tutorial_goes_as_it_is_written(
    working_directory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(working_directory), *sys.path])
    monkeypatch.delitem(sys.modules, "views", raising=False)
    reader = Reader(Cli(capsys, monkeypatch))
    found = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    for (kind, block), (next_kind, told) in pairwise([*found, ("", "")]):
        said = reader.does(kind, block)
        if next_kind == "text":
            assert said == told, block
    assert DashboardFiles(Path("dashboards")).get("visits").heading == "Visits"
    sys.modules.pop("views", None)
