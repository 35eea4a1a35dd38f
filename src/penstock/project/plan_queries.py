"""What applying a project would do to the SQL catalog and its queries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from penstock.front.sql import tree_statement as tree
from penstock.front.sql.parse import parse_statement
from penstock.front.sql.statement import Started
from penstock.inline.versions import InlineEngine
from penstock.jobs.circumstances import lost_inputs, other_programs, readers_of, writers_of
from penstock.jobs.engine import Engine
from penstock.jobs.upgrade import Choice
from penstock.log.open import open_log
from penstock.model.physical import Physical
from penstock.plan.verdict import Circumstances, Verdict, Version, verdict
from penstock.project.change import Change, Does
from penstock.spark.joint.files import begun, read_groups
from penstock.spark.shadow.run import SparkEngine
from penstock.sql.definitions import Definitions, copied, named, with_settings
from penstock.sql.old_spelling import resolved_as_said
from penstock.sql.project import Step, steps_to
from penstock.sql.query_place import checkpoint_of, engine_of
from penstock.sql.running import physical_of, read_tables_first, tables_first
from penstock.sql.session import SqlSession


@dataclass(frozen=True, slots=True)
class QueryChange(Change):
    """What becomes of a statement: `query` is what runs, `after` what is to run."""

    step: Step | None = None
    query: Started | None = None
    after: Started | None = None


def plan_queries(
    session: SqlSession, home: Path, directory: Path, choice: Choice
) -> tuple[QueryChange, ...]:
    """Compare the statements of a project with the catalog."""
    if not any(directory.glob("**/*.sql")):
        return ()
    known = session.definitions()
    steps = [step for step in steps_to(directory, known) if step.does != "leave"]
    scratch = copied(known)
    return tuple(_change(step, known, scratch, home, choice) for step in steps)


def version_engine(home: Path, query: Started) -> Engine:
    """Give what runs the versions of a query: whichever began it, tables that it joins first."""
    if engine_of(home, query.id) != "here":
        return SparkEngine(home, tables_first(query))

    def prepare(physical: Physical, checkpoint: Path) -> None:
        with open_log(home) as log:
            read_tables_first(query, physical, log, checkpoint)

    return InlineEngine(home, prepare)


def _change(
    step: Step, known: Definitions, scratch: Definitions, home: Path, choice: Choice
) -> QueryChange:
    after = _tried(step, scratch)
    if step.does == "create":
        return QueryChange(step.key, "create", "new in its files", step=step, after=after)
    entry = known.entry(step.key)
    query = None if entry is None else known.queries.get(entry.query)
    if after is None or query is None:
        does: Does = "unchanged" if step.does == "keep" else "compatible"
        return QueryChange(step.key, does, "it is said otherwise now", step=step)
    after = named(after, query.id)
    found = _judged(home, query, after, choice)
    kind = found.kind
    if kind == "unchanged" and step.does == "replace":
        kind = "compatible"
        found = replace(found, kind=kind, reason="it is said otherwise, and means the same")
    return QueryChange(
        step.key, kind, found.reason, found, step=_replacing(step), query=query, after=after
    )


def _tried(step: Step, scratch: Definitions) -> Started | None:
    """Carry out a statement on a copy of the catalog; give the query that it begins."""
    statement = _replacing(step).statement
    if statement is None or isinstance(statement, tree.CreateType):
        return None
    with_settings(scratch.catalog, dict(step.settings))
    outcome, _, _ = resolved_as_said(statement, scratch.session)
    return outcome if isinstance(outcome, Started) else None


def _replacing(step: Step) -> Step:
    """Give a step with the statement that puts it in the place of what there is."""
    if step.does == "create" or step.statement is not None:
        return step
    statement = parse_statement(step.text)
    if not isinstance(statement, tree.CreateAs):
        return step
    return replace(step, statement=replace(statement, or_replace=True, if_not_exists=False))


def _judged(home: Path, query: Started, after: Started, choice: Choice) -> Verdict:
    engine = version_engine(home, query)
    checkpoint = checkpoint_of(home, query.id)
    before, wanted = physical_of(query), physical_of(after)
    others: dict[str, Physical] = other_programs(home, query.id)
    with open_log(home) as log:
        around = Circumstances(
            lost=lost_inputs(log, wanted, engine.began(checkpoint)),
            writers=writers_of(others),
            readers=readers_of(others, log, without=(query.id, *others)),
            from_now=choice.from_now,
            replaces=choice.replaces,
        )
    found = verdict(Version(before), Version(wanted), around)
    if found.kind == "rebuild" and _shares(home, query.id):
        reason = f"it runs as one with others, which it leaves when it is paused; {found.reason}"
        return replace(found, kind="refuse", reason=reason)
    if found.kind == "rebuild" and not engine.reached(checkpoint):
        return replace(found, kind="compatible", reason=f"it has read nothing yet; {found.reason}")
    return found


def _shares(home: Path, query: str) -> bool:
    """Whether a query is run as one with others, and so has no checkpoint of its own."""
    members = {name for group in read_groups(home) for name in group.members}
    return query in members and not begun(checkpoint_of(home, query))
