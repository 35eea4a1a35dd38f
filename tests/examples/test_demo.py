from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


def start_demo(tmp_path: Path, *, seconds: int) -> subprocess.Popen[str]:
    settings = {"PENSTOCK_DEMO_SECONDS": str(seconds), "TMPDIR": str(tmp_path)}
    return subprocess.Popen(
        [sys.executable, "-m", "examples.demo"],
        cwd=PROJECT,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_demo_ends_by_itself_with_every_view_once(tmp_path: Path) -> None:
    with start_demo(tmp_path, seconds=3) as demo:
        out, err = demo.communicate()
    assert demo.returncode == 0, out + err
    assert "0 twice, 0 missing" in out
    assert "PENSTOCK_HOME=" in out
    assert err == ""


@pytest.mark.parametrize(
    "moment",
    [r"Page views flow", r"pageviews_enriched [1-9]"],
    ids=["while Spark starts", "in full flow"],
)
def test_ctrl_c_ends_the_demo_without_a_stack_trace(tmp_path: Path, moment: str) -> None:
    with start_demo(tmp_path, seconds=300) as demo:
        assert demo.stdout is not None
        for line in demo.stdout:
            if re.search(moment, line):
                break
        demo.send_signal(signal.SIGINT)
        out, err = demo.communicate()
    assert demo.returncode == 0, out + err
    assert "Stopped early." in out
    assert "0 twice" in out
    assert "Traceback" not in out + err
    assert err == ""
