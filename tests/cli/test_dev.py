from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from penstock.cli.main import run


@pytest.mark.slow
def test_dev_serves_a_new_project_follows_an_edit_and_ends_in_peace(tmp_path: Path) -> None:
    shop = tmp_path / "shop"
    assert run(["init", str(shop)]) == 0
    variables = {name: value for name, value in os.environ.items() if name != "PENSTOCK_HOME"}
    with subprocess.Popen(
        [sys.executable, "-m", "penstock", "dev", "--port", "0", "--no-jobs"],
        cwd=shop,
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as dev:
        assert dev.stdout is not None
        told = ""
        for line in dev.stdout:
            told += line
            served = re.search(r"^(http://\S+)$", line)
            if served:
                break
        assert 'job "people" is created' in told
        assert served, told
        answer = httpx.get(f"{served[1]}/api/v1/topics/clicks")
        assert answer.status_code == 200, answer.text
        (shop / "wrong.sql").write_text("CREATE STREAM wrong AS SELECT nothing FROM clicks;\n")
        for line in dev.stdout:
            told += line
            if "wrong.sql: line 1, column" in line:
                break
        dev.send_signal(signal.SIGINT)
        rest, _ = dev.communicate(timeout=60)
    assert dev.returncode == 0, told + rest
    assert "saved: wrong.sql" in told
    assert "Traceback" not in told + rest


def test_dev_wants_a_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["dev", str(tmp_path / "missing")]) == 2
    assert "PROJECT_DIRECTORY" in capsys.readouterr().err
