"""What Spark waits for gets an answer, whatever is raised in it."""

from __future__ import annotations

import pytest

from penstock.spark.answered import answered


class Work:
    """Raises some things, one a call, and then does what it is there for."""

    def __init__(self, *raised: BaseException) -> None:
        self.raised = list(raised)
        self.done = 0

    def __call__(self) -> None:
        if self.raised:
            raise self.raised.pop(0)
        self.done += 1


def test_work_is_done_once() -> None:
    work = Work()
    answered(work)
    assert work.done == 1


def test_work_that_was_interrupted_is_done_again() -> None:
    work = Work(KeyboardInterrupt(), KeyboardInterrupt())
    answered(work)
    assert work.done == 1


def test_work_that_is_always_interrupted_ends_with_an_error() -> None:
    work = Work(*[KeyboardInterrupt() for _ in range(3)])
    with pytest.raises(RuntimeError, match="interrupted 3 times"):
        answered(work)
    assert work.done == 0


def test_an_error_is_raised_as_it_is() -> None:
    error = ValueError("no such thing")
    with pytest.raises(ValueError, match="no such thing") as told:
        answered(Work(error))
    assert told.value is error


def test_what_is_no_error_is_raised_as_one() -> None:
    with pytest.raises(RuntimeError, match="GeneratorExit: over"):
        answered(Work(GeneratorExit("over")))
