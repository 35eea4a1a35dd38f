"""The pytest plugin: runs `*.transcript.yaml` files and offers the fixture `driver`.

It is loaded by every pytest of an environment with Penstock, so the rest of Penstock is
imported only where one of them is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typing_extensions import override

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.testing.driver import TestDriver

SUFFIX = ".transcript.yaml"


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
        """Give the calm run, and one in which every batch dies once after each of its steps."""
        yield TranscriptItem.from_parent(self, name="calm", crashes=False)
        yield TranscriptItem.from_parent(self, name="crashing", crashes=True)


class TranscriptItem(pytest.Item):
    """One way to perform a transcript."""

    def __init__(self, *, crashes: bool, **given: Any) -> None:  # noqa: ANN401
        super().__init__(**given)
        self._crashes = crashes

    @override
    def runtest(self) -> None:
        """Perform the transcript in a test driver."""
        from penstock.testing.transcript import (  # noqa: PLC0415
            load_transcript,
            open_driver,
            run_transcript,
        )

        transcript = load_transcript(self.path)
        if not self._crashes:
            run_transcript(transcript)
            return
        for step in open_driver(transcript.program, transcript.settings).steps:
            run_transcript(transcript, crash_after=step)

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
