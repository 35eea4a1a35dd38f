"""The pytest plugin: runs `*.transcript.yaml` files and offers the fixture `driver`.

It is loaded by every pytest of an environment with Penstock, so the rest of Penstock is
imported only where one of them is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.testing.driver import TestDriver

SUFFIX = ".transcript.yaml"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer to run transcripts on Spark as well."""
    parser.getgroup("penstock").addoption(
        "--transcripts-on-spark", action="store_true", help="run *.transcript.yaml on Spark, too"
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> TranscriptFile | None:
    """Take the transcripts among the files that pytest looks at."""
    if file_path.name.endswith(SUFFIX):
        return TranscriptFile.from_parent(parent, path=file_path)
    return None


@pytest.fixture
def driver() -> Callable[..., TestDriver]:
    """Give what makes a test driver of a program: `driver(app, clock=0)`."""
    from penstock.testing.driver import TestDriver  # noqa: PLC0415

    return TestDriver


class TranscriptFile(pytest.File):
    """A transcript as pytest sees it."""

    @override
    def collect(self) -> Iterator[TranscriptItem]:
        """Give the calm run, one in which every batch dies once after each step, and Spark's."""
        for name, perform in (("calm", _calmly), ("crashing", _crashing)):
            yield TranscriptItem.from_parent(self, name=name, perform=perform)
        if self.config.getoption("--transcripts-on-spark"):
            yield TranscriptItem.from_parent(self, name="spark", perform=_on_spark)


class TranscriptItem(pytest.Item):
    """One way to perform a transcript."""

    def __init__(self, *, perform: Callable[[Path], None], **given: Any) -> None:  # noqa: ANN401
        super().__init__(**given)
        self._perform = perform

    @override
    def runtest(self) -> None:
        """Perform the transcript."""
        self._perform(self.path)

    @override
    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """Show what differs, not how it was found out."""
        if isinstance(excinfo.value, AssertionError | PenstockError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    @override
    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the file."""
        return self.path, None, f"{self.path.name}: {self.name}"


def _calmly(file: Path) -> None:
    from penstock.testing.transcript import load_transcript, run_transcript  # noqa: PLC0415

    run_transcript(load_transcript(file))


def _crashing(file: Path) -> None:
    from penstock.testing.transcript import (  # noqa: PLC0415
        load_transcript,
        open_driver,
        run_transcript,
    )

    transcript = load_transcript(file)
    for step in open_driver(transcript.program, transcript.settings).steps:
        run_transcript(transcript, crash_after=step)


def _on_spark(file: Path) -> None:
    from penstock.testing.spark_stage import spark_stages  # noqa: PLC0415
    from penstock.testing.transcript import load_transcript, run_transcript  # noqa: PLC0415

    with TemporaryDirectory(prefix="transcript-") as folder, spark_stages(Path(folder)) as stages:
        run_transcript(load_transcript(file), stages)
