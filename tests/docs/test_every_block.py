"""Every block of every page is run by a test, or at least would be understood where it is typed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import PenstockError
from penstock.sql.script import pieces_of, read_piece
from tests.docs.commands import calls, problem, typed
from tests.docs.fragments import problems
from tests.docs.pages import DOCS, replayed

ROOT = DOCS.parent
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for path in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)

RUN = {
    "README.md": "tests/house/test_readme.py",
    "docs/alerts.md": "tests/docs/test_operations.py",
    "docs/channels.md": "tests/docs/test_every_block.py",
    "docs/cli.md": "tests/cli/test_docs.py",
    "docs/comparison.md": "tests/cli/test_compare.py",
    "docs/dashboards.md": "tests/docs/test_server_pages.py",
    "docs/dead-letters.md": "tests/docs/test_dead_letters.py",
    "docs/examples.md": "tests/docs/test_examples.py",
    "docs/formats.md": "tests/docs/test_formats.py",
    "docs/functions.md": "tests/docs/test_every_block.py",
    "docs/guarantees.md": "tests/docs/test_job_pages.py",
    "docs/guide.md": "tests/docs/test_guide.py",
    "docs/http-api.md": "tests/docs/test_http_api.py",
    "docs/jobs.md": "tests/docs/test_jobs.py",
    "docs/joins.md": "tests/docs/test_joins.py",
    "docs/kafka.md": "tests/kafka/test_brokers.py",
    "docs/kafka-streams.md": "tests/docs/test_kafka_streams.py",
    "docs/leaving-ksqldb.md": "tests/docs/test_leaving_ksqldb.py",
    "docs/lineage.md": "tests/docs/test_operations.py",
    "docs/live.md": "tests/docs/test_server_pages.py",
    "docs/many-jobs.md": "tests/docs/test_job_pages.py",
    "docs/metrics.md": "tests/docs/test_operations.py",
    "docs/notebook.md": "tests/docs/test_notebook_page.py",
    "docs/operations.md": "tests/docs/test_job_pages.py",
    "docs/pages.md": "tests/docs/test_server_pages.py",
    "docs/plan.md": "tests/plan/test_docs.py",
    "docs/projects.md": "tests/docs/test_projects_page.py",
    "docs/queries.md": "tests/serve/pull/test_queries_page.py",
    "docs/registry.md": "tests/serve/test_docs.py",
    "docs/savepoints.md": "tests/docs/test_job_pages.py",
    "docs/server.md": "tests/docs/test_server_pages.py",
    "docs/spark.md": "tests/docs/test_job_pages.py",
    "docs/sql.md": "tests/cli/test_sql_page.py",
    "docs/sql-reference.md": "tests/sql/test_reference.py",
    "docs/state.md": "tests/docs/test_state.py",
    "docs/testing.md": "tests/testing/test_docs_testing.py",
    "docs/testing-faults.md": "tests/testing/test_docs_faults.py",
    "docs/topologies.md": "tests/docs/test_topologies.py",
    "docs/tutorial.md": "tests/docs/test_tutorial.py",
    "docs/upgrades.md": "tests/docs/test_job_pages.py",
}
"""Pages whose blocks a test runs as they stand, but for ports and the paths of this machine. That
on projects is read by `make soak`: its commands are run by tests/cli, too."""

NOT_RUN = {
    "CONTRIBUTING.md": "targets of the Makefile, tests among them",
    "docs/deploy.md": "a cluster, which tests/spark/cluster/test_standalone.py starts",
    "docs/demo.md": "make demo, which tests/examples/test_demo.py starts",
    "docs/log-format.md": "bytes on disk, which tests/log/embedded/test_log_format.py reads",
    "docs/performance.md": "make bench, which takes a quarter of an hour",
    "docs/recovery.md": "submitted here; tests/faults/test_standby_kill.py runs such a job",
}
"""All other pages with blocks, and what these are. That their commands exist is looked at here."""


def blocks(page: str, *kinds: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return [block for kind, block in BLOCK.findall(text) if kind in kinds]


def test_the_tests_that_are_said_to_run_pages_are_there() -> None:
    for page, test in RUN.items():
        assert (ROOT / page).exists(), page
        assert Path(page).name in (ROOT / test).read_text(encoding="utf-8"), test


def test_every_page_with_blocks_is_run_or_said_not_to_be() -> None:
    fenced = {page for page in PAGES if "```" in (ROOT / page).read_text(encoding="utf-8")}
    assert fenced - RUN.keys() == NOT_RUN.keys()


def test_every_command_of_a_page_is_one() -> None:
    wrong = {page: [*command_problems(page)] for page in PAGES}
    assert {page: found for page, found in wrong.items() if found} == {}


def command_problems(page: str) -> Iterator[str]:
    for line in typed((ROOT / page).read_text(encoding="utf-8")):
        yield from filter(None, map(problem, calls(line)))


def test_python_that_is_not_run_names_what_is_there() -> None:
    wrong = {page: [*python_problems(page)] for page in PAGES if page not in RUN}
    assert {page: found for page, found in wrong.items() if found} == {}


def python_problems(page: str) -> Iterator[str]:
    for block in blocks(page, "python", "py"):
        yield from problems(block)


def test_sql_that_is_not_run_can_be_read() -> None:
    for page in PAGES:
        for block in blocks(page, "sql") if page not in RUN else ():
            for piece in pieces_of(block):
                read_piece(piece, {})


@pytest.mark.parametrize("page", ["channels.md", "functions.md"])
def test_small_pages_run_as_they_stand(page: str) -> None:
    assert replayed(page) == (DOCS / page).read_text(encoding="utf-8")


def test_what_is_wrong_would_be_found() -> None:
    (call,) = calls("PENSTOCK_HOME=x penstock topics list --jsn | head -3  # all")
    assert "no option --jsn" in problem(call)
    assert [*calls("echo a | penstock produce x && penstock consum x")][1] == ["consum", "x"]
    assert "no command consum" in problem(["consum", "x"])
    assert [*problems("from penstock.log.open import open_lock")]
    assert [*problems("import penstock as ps\nps.open_log(place='x')")]
    assert not [*problems("import penstock as ps\nps.open_log('x').topics()")]
    with pytest.raises(PenstockError):
        read_piece(next(iter(pieces_of("SELEC 1;"))), {})
