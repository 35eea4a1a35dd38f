from __future__ import annotations

import pytest

from penstock.spark.failure import run_error

PYTHON = """\
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed
Traceback (most recent call last):
  File "/venv/site-packages/pyspark/worker.py", line 2000, in main
    process()
  File "/home/me/shop/prices.py", line 12, in price
    return 1 / amount
  File "/venv/site-packages/pyspark/serializers.py", line 3, in dump
    x()
ZeroDivisionError: division by zero

\tat org.apache.spark.api.python.BasePythonRunner.handle(PythonRunner.scala:1)
Caused by: java.lang.Exception
"""
OURS = """\
Traceback (most recent call last):
  File "/venv/site-packages/penstock/spark/source.py", line 7, in read
    raise TopicError(
penstock.errors.TopicError: [TOPIC_MISSING] topic "vews" does not exist
Did you mean "views"?

\tat org.apache.spark.Something(Somewhere.scala:1)
"""
JAVA = """\
[DIVIDE_BY_ZERO] Division by zero. Use try_divide. SQLSTATE: 22012
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.divideByZero(Q.scala:1)
"""

NO_READER = (
    OURS.partition("\n\n")[0]
    + """

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/venv/site-packages/pyspark/sql/streaming/python_streaming_source_runner.py", line 295
    reader.stop()
UnboundLocalError: cannot access local variable 'reader' where it is not associated with a value
"""
)
WAITING = """\
Traceback (most recent call last):
  File "/venv/site-packages/penstock/spark/program_sink.py", line 50, in __call__
    rows.collect()
py4j.protocol.Py4JJavaError: An error occurred while calling o183.collectToPython.
: org.apache.spark.SparkException: [CANNOT_LOAD_STATE_STORE] Loading state failed.  SQLSTATE: 58030
\tat org.apache.spark.Something(Somewhere.scala:1)
Caused by: java.lang.RuntimeException: wrapped
\tat org.apache.spark.Something(Somewhere.scala:1)
Caused by: java.io.IOException: Stream is corrupted
\t... 36 more
"""


def test_why_a_reader_was_not_made_is_told() -> None:
    error = run_error(RuntimeError(NO_READER))
    assert error.fact == 'the query stopped: [TOPIC_MISSING] topic "vews" does not exist'
    assert error.hint == 'Did you mean "views"?'


def test_what_java_raised_while_python_waited_is_told_with_its_cause() -> None:
    error = run_error(RuntimeError(WAITING))
    assert error.fact == (
        "the query stopped: [CHECKPOINT_BROKEN] a file of the checkpoint is missing or is not what"
        " Spark wrote: Loading state failed."
    )


def test_the_users_exception_and_line_are_told_in_one_line() -> None:
    error = run_error(RuntimeError(PYTHON))
    assert error.code == "SPARK_QUERY_FAILED"
    assert error.fact == (
        "the query stopped: ZeroDivisionError: division by zero (/home/me/shop/prices.py:12)"
    )


def test_an_error_of_ours_keeps_its_code_and_hint() -> None:
    error = run_error(RuntimeError(OURS))
    assert error.fact == 'the query stopped: [TOPIC_MISSING] topic "vews" does not exist'
    assert error.hint == 'Did you mean "views"?'


def test_an_error_of_spark_is_told_without_java() -> None:
    error = run_error(RuntimeError(JAVA))
    assert error.fact == ("the query stopped: Division by zero. Use try_divide. SQLSTATE: 22012")
    assert "--debug" in error.hint


@pytest.mark.parametrize(
    "text", ["", "\tat java.lang.Thread.run(Thread.java:1)", "Traceback (most recent call last):"]
)
def test_no_text_makes_it_fail(text: str) -> None:
    assert run_error(RuntimeError(text)).code == "SPARK_QUERY_FAILED"


def test_the_last_traceback_is_the_cause() -> None:
    error = run_error(RuntimeError(PYTHON + OURS))
    assert "TOPIC_MISSING" in error.fact


@pytest.mark.parametrize(
    "text",
    [
        "java.io.IOException: No space left on device\n\tat java.base/java.io.FileOutputStream",
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n'
        "OSError: [Errno 28] No space left on device: '/c/memory/a/0/1.state'\n",
    ],
)
def test_a_full_disk_is_told_as_such_whoever_meets_it(text: str) -> None:
    error = run_error(RuntimeError(text))
    assert error.fact.startswith("the query stopped: [DISK_FULL] ")
    assert error.hint.startswith("Free some space")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "java.lang.IllegalStateException: batch 7 doesn't exist",
            "batch 7 doesn't exist",
        ),
        (
            "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] it failed SQLSTATE: 58030\n"
            "Caused by: java.io.EOFException: at /x/spark/state/0/0/7.changelog",
            'it failed ("/x/spark/state/0/0/7.changelog")',
        ),
    ],
)
def test_a_damaged_checkpoint_is_told_without_java(text: str, said: str) -> None:
    error = run_error(RuntimeError(text))
    assert "[CHECKPOINT_BROKEN]" in error.fact
    assert error.fact.endswith(said)


def test_what_a_function_of_the_user_says_is_not_taken_for_the_checkpoint() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/me/a.py", line 1, in f\n'
        "ValueError: Failed to parse 7\n"
    )
    assert "CHECKPOINT" not in run_error(RuntimeError(text)).fact
