from __future__ import annotations

import pytest

# pytester forgets modules that its runs load, and numpy cannot be loaded twice.
import penstock.testing.transcript  # noqa: F401

pytest_plugins = ["pytester"]

TRANSCRIPT = """
program:
  streams:
    numbers:
      columns: {n: int64, at: timestamp}
      event_time: at
  outputs:
    passed: {from: numbers}
steps:
- input: [{n: 1, at: "0:01"}, {n: 2, at: 2s}]
- expect: [{n: 1}, {n: %s}]
"""


def test_transcripts_are_collected_and_run_calmly_and_with_crashes(
    pytester: pytest.Pytester,
) -> None:
    (pytester.path / "good.transcript.yaml").write_text(TRANSCRIPT % 2)
    result = pytester.runpytest_inprocess("-v", "-p", "no:randomly")
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*good.transcript.yaml::calm PASSED*", "*::crashing PASSED*"])


def test_spark_is_asked_only_where_it_is_wanted(pytester: pytest.Pytester) -> None:
    (pytester.path / "good.transcript.yaml").write_text(TRANSCRIPT % 2)
    result = pytester.runpytest_inprocess("--collect-only", "-q", "--transcripts-on-spark")
    result.stdout.fnmatch_lines(["good.transcript.yaml::spark"])


def test_what_differs_is_shown_with_its_line(pytester: pytest.Pytester) -> None:
    (pytester.path / "wrong.transcript.yaml").write_text(TRANSCRIPT % 3)
    result = pytester.runpytest_inprocess("-p", "no:randomly")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["wrong.transcript.yaml:11: not as expected", "*missing*n: 3*"])


def test_a_transcript_that_cannot_be_read_fails_with_its_code(pytester: pytest.Pytester) -> None:
    (pytester.path / "bad.transcript.yaml").write_text("steps: []")
    result = pytester.runpytest_inprocess("-p", "no:randomly")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*TRANSCRIPT_FORMAT*"])


def test_the_fixture_makes_a_driver(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        from pathlib import Path
        from penstock.testing.inline import inline_plan

        PROGRAM = {
            "streams": {"numbers": {"columns": {"n": "int64"}}},
            "outputs": {"passed": {"from": "numbers"}},
        }

        def test_it(driver):
            made = driver(inline_plan("p", PROGRAM, "here"), clock=5)
            made.push("numbers", {"n": 1})
            assert made.rows("passed") == [{"n": 1}]
            assert made.clock == 5
        """
    )
    pytester.runpytest_inprocess("-p", "no:randomly").assert_outcomes(passed=1)
