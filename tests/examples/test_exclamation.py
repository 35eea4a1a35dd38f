from __future__ import annotations

import pytest

from examples.exclamation import WORDS, main


def test_the_word_that_was_slept_through_comes_again(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[:4]) == sorted(f"done: {word}" for word in WORDS[1:])
    assert lines[4:] == ["again: nathan", "done: nathan", "5 acked, 1 failed, 1 by the clock"]
