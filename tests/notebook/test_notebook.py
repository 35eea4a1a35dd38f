"""One kernel for all of these, each with a topic and a job of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import UsageError
from penstock.jobs.store import job_store
from penstock.log.open import open_log
from penstock.log.rows import rows_of_bytes
from penstock.notebook import run
from tests.notebook.kernel import Notebook, kernel

PROGRAM = """
import penstock as ps
from penstock.notebook import run

app = ps.App("{name}")
clicks = app.stream("{name}", format="json", schema={{"user": "string", "page": "string"}})
pages = clicks.group_by("page").agg(n=ps.count())
pages.to("{name}_by_page")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the kernel is at home."""
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def notebook(folder: Path) -> Iterator[Notebook]:
    """A kernel with the extension loaded."""
    with kernel(folder) as found:
        assert not found.run("%load_ext penstock.notebook").error
        yield found


def clicks(folder: Path, topic: str, *pages: str) -> None:
    with open_log(folder / ".penstock") as log:
        if topic not in log.topics():
            log.create_topic(topic)
        rows = [b'{"user":"ann","page":"%b"}' % page.encode() for page in pages]
        log.append(topic, 0, rows_of_bytes(rows))


def test_a_stream_shows_itself_and_rows_that_come_update_it(
    notebook: Notebook, folder: Path
) -> None:
    clicks(folder, "a", "home", "news")
    assert not notebook.run(PROGRAM.format(name="a")).error
    shown = notebook.run("clicks", cell="one")
    assert "2 rows" in notebook.until("news")
    clicks(folder, "a", "shop")
    assert "shop" in notebook.until("3 rows")
    assert len(shown.pages) == 1


def test_results_are_worked_out_in_the_kernel_with_a_row_for_each_key(
    notebook: Notebook, folder: Path
) -> None:
    clicks(folder, "b", "home", "news")
    notebook.run(PROGRAM.format(name="b"))
    notebook.run("pages", cell="two")
    assert "2 rows" in notebook.until("home  1")
    clicks(folder, "b", "home")
    assert "2 rows" in notebook.until("home  2")


def test_a_cell_that_is_run_again_replaces_its_job_and_keeps_its_state(
    notebook: Notebook, folder: Path
) -> None:
    clicks(folder, "c", "home")
    notebook.run(f"{PROGRAM.format(name='c')}\njob = run(app)\njob", cell="three")
    notebook.until("job c: running")
    listed = next(job for job in job_store(folder / ".penstock").jobs() if job.name == "c")
    assert (listed.state, listed.application) == ("running", "notebook")
    assert str(listed.pid) in notebook.run("import os; print(os.getpid())").text
    notebook.run(f"{PROGRAM.format(name='c')}\nfirst, job = job, run(app)\njob", cell="three")
    notebook.until("goes on with what it remembered")
    assert "stopped" in notebook.run("print(first.state)").text
    changed = PROGRAM.format(name="c").replace("ps.count()", 'ps.count_distinct("user")')
    notebook.run(f"{changed}\njob = run(app)\njob", cell="three")
    notebook.until("it begins anew, since")
    assert "stopped" in notebook.run("job.stop(); print(job.state)").text


def test_another_program_of_an_earlier_notebook_is_not_overwritten(
    notebook: Notebook, folder: Path
) -> None:
    clicks(folder, "d", "home")
    notebook.run(f"{PROGRAM.format(name='d')}\nrun(app).stop()")
    changed = PROGRAM.format(name="d").replace("ps.count()", 'ps.count_distinct("user")')
    forget = "get_ipython()._penstock.jobs._jobs.clear()"
    refused = notebook.run(f"{changed}\n{forget}\nrun(app)")
    assert refused.error[0].startswith("[NOTEBOOK_JOB_CHANGED]")
    assert not notebook.run("run(app, rebuild=True).stop()").error


def test_statements_are_cells_and_those_that_go_on_update(notebook: Notebook, folder: Path) -> None:
    clicks(folder, "e", "home")
    made = notebook.run(
        "%%psql\nCREATE STREAM e (user STRING, page STRING)"
        " WITH (kafka_topic='e', value_format='JSON');\nSHOW STREAMS;"
    )
    assert not made.error
    notebook.run("%%psql\nSELECT page FROM e EMIT CHANGES;", cell="four")
    clicks(folder, "e", "late")
    assert "late" in notebook.until("1 row has come")


def test_what_is_refused_is_told_by_its_code_without_a_trace(notebook: Notebook) -> None:
    twice = "import penstock as ps\napp = ps.App('f')\n"
    refused = notebook.run(f"{twice}app.stream('t', lateness='1s', watermark=ps.bounded('2s'))")
    assert refused.error[0].startswith("[WATERMARK_TWICE]")
    assert len(refused.error) < 4
    refused = notebook.run("%psql SELECT nothing FROM nowhere;")
    assert refused.error[0].startswith("[SQL_SOURCE_MISSING]")
    absent = notebook.run("app.stream('absent', schema={'a': 'int64'})")
    assert "[TOPIC_MISSING]" in next(iter(absent.pages.values()))[0]
    reads = "app.stream('absent', schema={'a': 'int64'}).to('x')"
    failing = notebook.run(f"from penstock.notebook import run\n{reads}\nrun(app)")
    assert failing.error[0].startswith("[TOPIC_MISSING]")


def test_there_is_no_background_without_a_notebook() -> None:
    with pytest.raises(UsageError, match="NOTEBOOK_MISSING"):
        run(None)  # type: ignore[arg-type]  # refused before it is looked at
