"""Queries over the same streams run as one Spark query, where their owner asks for it.

Which queries share is decided when they begin, and written down: those that have not begun, with
the same streams and settings. See `spark.joint.query` for how one leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from penstock.front.sql.statement import Started
from penstock.jobs.job import Job
from penstock.jobs.record import new_job
from penstock.jobs.run import Query
from penstock.jobs.runnable import Runnable
from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Physical, Settings
from penstock.model.progress import Progress
from penstock.plan.fingerprint import fingerprint
from penstock.plan.merge import may_merge, may_share, merge
from penstock.spark.configured import configured_session
from penstock.spark.joint.files import Group, begun, read_groups, write_group
from penstock.spark.joint.query import let_leave
from penstock.spark.run import start
from penstock.sql.query_job import HeldQuery, busy
from penstock.sql.query_place import checkpoint_of, engine_of, taken
from penstock.sql.running import physical_of, tables_first

Alone: TypeAlias = Callable[[Started], Runnable]
"""Gives how a query is run that shares with no other."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A query, its program, and what that is known by."""

    query: Started
    physical: Physical
    mark: str


class Sharing:
    """Says which queries of a home are run as one; who is asked again is asked with all of them.

    `goes_on` says whether a query that is not among them any more will be run again: a paused one
    leaves its group with what it knows, of one that was dropped nothing is kept.
    """

    def __init__(
        self,
        home: Path,
        *,
        settings: Settings | None = None,
        how: JobSettings = JOB_SETTINGS,
        goes_on: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._home = home
        self._settings = settings
        self._how = how
        self._goes_on = goes_on
        self._known: dict[str, _Known] = {}

    def runnables(self, queries: Sequence[Started], alone: Alone) -> list[Runnable]:
        """Give what is to be run for these queries: groups, and the others as `alone` has them."""
        self._known = {query.id: self._looked_up(query) for query in queries}
        groups = read_groups(self._home)
        groups += self._new_groups(groups)
        found: list[Runnable] = []
        together: set[str] = set()
        for group in groups:
            staying = [name for name in group.members if self._stays(group, name)]
            found.append(self._shared(group, staying))
            together |= set(staying) if len(staying) > 1 else set()
        apart = [query for query in queries if query.id not in together]
        return [*found, *(alone(query) for query in apart)]

    def _looked_up(self, query: Started) -> _Known:
        known = self._known.get(query.id)
        if known is not None and known.query == query:
            return known
        physical = physical_of(query, self._settings)
        return _Known(query, physical, fingerprint(physical))

    def _stays(self, group: Group, name: str) -> bool:
        known = self._known.get(name)
        # One that has left has a checkpoint of its own.
        alone = begun(checkpoint_of(self._home, name)) or engine_of(self._home, name) == "here"
        return known is not None and known.mark == group.members[name] and not alone

    def _new_groups(self, groups: Sequence[Group]) -> list[Group]:
        """Write down the groups of queries that have not begun; one alone makes none."""
        taken_names = {name for group in groups for name in group.members}
        sets: list[list[_Known]] = []
        for known in self._known.values():
            if known.query.id in taken_names or not self._may_share(known):
                continue
            like = next((one for one in sets if may_merge(one[0].physical, known.physical)), None)
            if like is None:
                sets.append([known])
            else:
                like.append(known)
        last = max((int(group.name.rpartition("-")[2]) for group in groups), default=0)
        made = [
            Group(f"shared-{last + number}", {known.query.id: known.mark for known in one})
            for number, one in enumerate((one for one in sets if len(one) > 1), start=1)
        ]
        for group in made:
            write_group(self._home, group)
        return made

    def _may_share(self, known: _Known) -> bool:
        query = known.query
        ordinary = self._how.guarantee == "exactly-once" and self._how.recovery == "passive"
        fresh = engine_of(self._home, query.id) is None
        plain = not query.by_record and not tables_first(query) and may_share(known.physical)
        return ordinary and fresh and plain and self._how.isolation == "shared"

    def _shared(self, group: Group, staying: Sequence[str]) -> Runnable:
        """Give how the queries of a group are run that stay in it."""
        programs = {name: self._known[name].physical for name in staying}
        checkpoint = group.checkpoint(self._home)

        def merged() -> Physical:
            if len(programs) > 1:
                return merge(group.name, programs)
            # All have left it; each goes on by itself.
            raise busy(group.name)

        def describe() -> Job:
            # The last one leaves a group by what is done first when the group begins.
            physical = merge(group.name, programs) if programs else Physical(group.name, (), (), ())
            return new_job(physical, application="sql", checkpoint=str(checkpoint))

        def hold_all(hold: ExitStack, names: Sequence[str]) -> None:
            for name in names:
                if not hold.enter_context(taken(self._home, name, "spark")):
                    raise busy(name)

        def begin(tell: Callable[[Progress], None]) -> Query:
            with ExitStack() as hold:
                # Some may have left since this was asked for.
                now = next((one for one in read_groups(self._home) if one.name == group.name), None)
                if now is None:
                    raise busy(group.name)
                staying_names = [now.name, *(name for name in now.members if name in programs)]
                hold_all(hold, staying_names)
                session = configured_session()
                if list(programs) != list(now.members):
                    # Who leaves is held only until it has what it knows.
                    with ExitStack() as leaving:
                        hold_all(leaving, [name for name in now.members if name not in programs])
                        let_leave(self._home, now, programs, self._goes_on, session)
                begun_query = start(
                    merged(),
                    home=self._home,
                    checkpoint=checkpoint,
                    how=self._how,
                    on_progress=tell,
                    session=session,
                )
                return HeldQuery(begun_query, hold.pop_all())

        marks = ",".join(f"{name}:{group.members[name]}" for name in staying)
        return Runnable(group.name, marks, describe, begin, self._how)
