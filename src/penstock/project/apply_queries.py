"""Does to the SQL catalog and its queries what the plan of a project says."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

from penstock.errors import JobError
from penstock.jobs.takeover import Rebuild, rebuild, settle_takeover
from penstock.jobs.upgrade_file import forget_upgrade, read_upgrade, upgrade_program
from penstock.log.open import open_log
from penstock.project.plan_queries import QueryChange, version_engine
from penstock.project.sql_query import SqlQuery
from penstock.spark.retired import retire, successor_of
from penstock.spark.shadow.version import drop_shadows
from penstock.sql.query_place import engine_of
from penstock.sql.running import physical_of
from penstock.sql.session import SqlSession


def apply_query(session: SqlSession, home: Path, change: QueryChange, how: Rebuild) -> str:
    """Do what is to be done with one statement, and say it."""
    assert change.step is not None
    if change.does == "refuse":
        raise JobError(
            "UPGRADE_REFUSED",
            f'query of "{change.name}" cannot become that one: {change.reason}',
            hint="Give what it makes another name, so that it is another beside this one.",
        )
    if change.does == "unchanged":
        return f"{change.name} is as it was"
    if change.does != "rebuild":
        return "\n".join(told.words for told in session.apply([change.step]))
    subject = _subject(session, home, change)
    assert change.after is not None
    if read_upgrade(home, subject.name) is not None:
        with subject.quiet(how.seconds):
            if settle_takeover(subject):
                return f"{change.name} is the query that its files say"
    engine = version_engine(home, change.after)
    rebuild(subject, physical_of(change.after), engine, replace(how, what="upgraded"))
    return f"{change.name} was built from the log, and goes on as query {subject.current()}"


def clean_queries(session: SqlSession, home: Path) -> None:
    """Forget what is left of rebuilds whose queries the catalog has already."""
    known = session.definitions().queries
    for place in sorted((home / "jobs").glob("*")):
        successor = successor_of(place) if place.is_dir() else None
        if successor is not None and successor.name in known and place.name not in known:
            shutil.rmtree(place, ignore_errors=True)
    for folder in sorted((home / "definitions").glob("*")):
        found = read_upgrade(home, folder.name) if folder.is_dir() else None
        if found is None or Path(found.checkpoint).name not in known:
            continue
        with open_log(home) as log:
            drop_shadows(log, upgrade_program(home, found.name), found.mark)
        if found.before and Path(found.before).exists():
            retire(Path(found.before), Path(found.checkpoint))
        forget_upgrade(home, found.name)
        folder.rmdir()


def _subject(session: SqlSession, home: Path, change: QueryChange) -> SqlQuery:
    step, query = change.step, change.query
    assert step is not None
    assert query is not None

    def current() -> str:
        entry = session.definitions().entry(step.key)
        assert entry is not None
        return entry.query

    return SqlQuery(
        home,
        query,
        engine_of(home, query.id) or "spark",
        lambda id_: session.replace_query(step, id_),
        current,
    )
