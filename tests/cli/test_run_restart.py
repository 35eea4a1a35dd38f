from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import PenstockError, RunError, TopicError
from penstock.jobs.store import job_store
from penstock.spark import run as spark_run
from tests.cli.shell import Cli
from tests.jobs.hosted import FakeQuery

PROGRAM = """
import penstock as ps

app = ps.App("shop")
app.stream("views", schema={"n": int}).to("kept")
"""
SETTINGS = '[jobs.shop]\nrestarts = 2\nfirst_pause = "1ms"\n'
PASSING = RunError("SPARK_QUERY_FAILED", "the query stopped: ValueError: no (shop.py:3)")
PERMANENT = TopicError("TOPIC_MISSING", 'topic "views" does not exist')


@pytest.mark.parametrize(
    ("words", "error", "runs"),
    [((), PASSING, 1), (("--restart",), PASSING, 3), (("--restart",), PERMANENT, 1)],
)
def test_a_program_that_fails_in_the_foreground_ends_with_its_cause_when_its_policy_gives_up(
    working_directory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    error: PenstockError,
    runs: int,
) -> None:
    monkeypatch.setattr(spark_run, "start", lambda *_, **__: FakeQuery(error))
    Path("shop.py").write_text(PROGRAM)
    Path("penstock.toml").write_text(SETTINGS)
    refused = Cli(capsys, monkeypatch)("run", "shop.py", *words)
    assert refused.code == 1
    assert refused.err.splitlines()[0] == f"error [{error.code}] {error.fact}"
    found = job_store(working_directory / ".penstock").jobs()
    assert [run.state for run in found] == ["failed"] * runs
    assert [run.restarts for run in found] == list(range(runs))
