"""What all tests share: a clean environment, and a last line that owns up to what was skipped."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from tests.kafka.cluster import begin_run, end_run
from tests.kafka.fixtures import emptied_broker, kafka, kafka_cluster, own_broker
from tests.order import long_first

__all__ = ["emptied_broker", "kafka", "kafka_cluster", "own_broker"]

# Settings of whoever runs the tests must not reach them; Spark's workers must be this Python.
for _name in [name for name in os.environ if name.startswith("PENSTOCK_")]:
    del os.environ[_name]
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

# A run in the background of a shell ignores Ctrl-C and hands that on to what the tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("default", deadline=None, derandomize=True)
# The fast loop tries some of the examples that `make test` tries.
hypothesis.settings.register_profile("fast", deadline=None, derandomize=True, max_examples=25)
hypothesis.settings.register_profile("soak", deadline=None, max_examples=10_000)
hypothesis.settings.load_profile("default")


_LONGER = (
    *("bench", "cli", "conformance", "contract", "docs", "doctor", "examples", "faults"),
    *(
        "inline",
        "jobs",
        "kafka",
        "mistakes",
        "notebook",
        "pages",
        "project",
        "properties",
        "requirements",
        "serve",
        "sql",
        "testing",
        "transcripts",
    ),
    *("front/streams", "log/assign", "log/channel", "log/remote", "log/test_event_store.py"),
    *("schema/codec/test_delimited.py", "schema/codec/test_json_agreement.py"),
    *("kernel/test_buffered.py", "schema/registry", "spark/test_state_patch.py"),
    *("spark/test_state_runs.py", "schema/codec/test_fuzz.py", "front/sql/test_triggers.py"),
    *("front/sql/test_join_kinds.py", "log/embedded/test_compaction_faults.py"),
    *("watch/test_kill.py", "watch/test_topic_observers.py", "watch/test_notifier.py"),
    *("log/kafka/test_refusals.py", "broker/test_fetch.py"),
    *("kernel/fold/test_exact.py", "kernel/trigger/test_machine.py", "front/dsl/test_then.py"),
)
"""Tests of whole programs, of processes, of commands and of many examples: not the fast loop's."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let `make check` say that it wants the fast loop."""
    parser.addoption("--fast", action="store_true", help="do not even look at longer tests")


def pytest_configure(config: pytest.Config) -> None:
    """Let the workers of this run share its brokers."""
    if not hasattr(config, "workerinput"):
        begin_run()
    if config.getoption("--fast"):
        hypothesis.settings.load_profile("fast")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage in what tests leave only: to look in what is collected takes seconds."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Start the longest tests first: random otherwise, and the same in all workers."""
    given: dict[str, int] = getattr(config, "workerinput", {})
    items[:] = long_first(items, file_of=_file_of, workers=int(given.get("workercount", 1)))


def _file_of(item: pytest.Item) -> str:
    return item.path.relative_to(Path(__file__).parent).as_posix()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave tests of whole programs to `make test`."""
    relative = collection_path.relative_to(Path(__file__).parent).as_posix()
    return True if config.getoption("--fast") and relative in _LONGER else None


@pytest.fixture(autouse=True)
def _no_user_settings(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.getbasetemp() / "no-such-config"))


@pytest.fixture
def working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory that is the working directory during the test."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    # At its end Python looks at everything once more, as libraries expect that count what is left.
    gc.unfreeze()
    if not hasattr(config, "workerinput"):
        end_run()
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    reasons = Counter(_reason(report) for report in reporter.stats.get("skipped", []))
    words = "; ".join(f"{count}: {reason}" for reason, count in sorted(reasons.items()))
    reporter.write_line(f"skipped {reasons.total()}" + (f" ({words})" if words else ""))


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2].removeprefix("Skipped: ")
    return str(report.longrepr)
