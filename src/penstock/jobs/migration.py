"""A project moves from the log of its home to Kafka: topics, groups, jobs, and the setting.

Nothing of the old log changes. Until the last step, the setting, all goes on where it was; each
step may be done again, so that a move that was killed is ended by the same command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.config import Settings
from penstock.errors import JobError, LogError
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.log_setting import settings_file, write_log_setting
from penstock.jobs.quiet import quiet_checkpoint
from penstock.jobs.store import job_store
from penstock.log.embedded.home import open_home
from penstock.log.kafka.home import bind_home, is_elsewhere
from penstock.log.mirror import Route, fitting_target
from penstock.log.mirroring import Copied, copy_topics
from penstock.log.offset_map import KeptMap, OffsetMap
from penstock.log.port import Log
from penstock.log.record import TopicPartition
from penstock.schema.registry.schema_topic import SCHEMAS_TOPIC
from penstock.spark.program_offset import ProgramOffset
from penstock.spark.relocate import place_of, relocate

_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class MigrationPlan:
    """What is to be moved, and the file that is to name the new log."""

    home: str
    target: str
    topics: Mapping[str, int]
    """How many offsets each has."""
    groups: tuple[str, ...]
    jobs: tuple[str, ...]
    """Where those that have begun remember how far they came."""
    settings: str


@dataclass(frozen=True, slots=True)
class Migration:
    """A move of one project."""

    settings: Settings
    target: str
    directory: Path

    @property
    def home(self) -> Path:
        """The home whose log is left."""
        return self.settings.home

    def plan(self) -> MigrationPlan:
        """Look at what there is; what cannot be moved is refused."""
        self._refuse_moved()
        with open_home(self.home) as source:
            refuse_running(self.home, source)
            topics = {
                name: sum(bound.end - bound.start for bound in source.snapshot([name]).values())
                for name in source.topics()
            }
            groups = tuple(name for name in source.groups() if source.committed(name))
        places = checkpoints(self.home)
        for place in places:
            place_of(place)
        file = settings_file(self.directory)
        jobs = tuple(str(place) for place in places)
        return MigrationPlan(str(self.home), self.target, topics, groups, jobs, str(file))

    def check(self, target: Log) -> None:
        """Ask the cluster whether it takes the topics: what stands in the way is refused."""
        with open_home(self.home) as source:
            for name in source.topics():
                fitting_target(Route(source, target, name), source.topic(name))

    def run(self, target: Log, *, tell: Callable[[Copied], None]) -> tuple[Copied, ...]:
        """Move everything, and let the settings name the new log at the end."""
        plan = self.plan()
        with open_home(self.home) as source, _quiet(self.home, plan):
            done = _copy(source, target, tell)
            offsets = OffsetMap(source, target)
            for group in plan.groups:
                target.commit(group, _translated(source, offsets, source.committed(group)))
            for place in map(Path, plan.jobs):
                _move_job(place, source, target, offsets)
            write_log_setting(Path(plan.settings), self.target)
            bind_home(replace(self.settings, log=self.target))
        return done

    def _refuse_moved(self) -> None:
        if is_elsewhere(self.home) or self.settings.log:
            raise LogError(
                "MIGRATE_SOURCE",
                f'the log of "{self.home}" is not kept in that directory: it was moved already, or'
                " the setting `log` names another",
                hint="Only the log of a home is moved; topics of others are copied by"
                " `penstock mirror`.",
            )


def checkpoints(home: Path) -> tuple[Path, ...]:
    """Give where the jobs of a home that have begun remember how far they came."""
    found = [checkpoint_of(home, item) for item in definition_store(home).all()]
    found += [Path(run.checkpoint) for run in job_store(home).jobs() if run.checkpoint]
    # Queries of SQL and programs of `penstock.streams` are kept there without a definition.
    if (home / "jobs").is_dir():
        found += [place for place in (home / "jobs").iterdir() if place.is_dir()]
    places = dict.fromkeys(place.absolute() for place in found)
    return tuple(sorted(place for place in places if place.is_dir() and any(place.iterdir())))


def refuse_running(home: Path, log: Log) -> None:
    """Refuse while jobs run or members of groups read."""
    runs = [run.id for run in job_store(home).jobs() if run.alive]
    groups = [name for name in log.groups() if log.group(name).members]
    if runs or groups:
        raise JobError(
            "MIGRATE_RUNNING",
            f"there is still work on the log: {', '.join([*runs, *groups])}",
            hint="Stop jobs with `penstock jobs stop NAME`, and end all producers and consumers.",
        )


@contextmanager
def _quiet(home: Path, plan: MigrationPlan) -> Iterator[None]:
    with ExitStack() as stack:
        for place in plan.jobs:
            stack.enter_context(quiet_checkpoint(job_store(home), place, _PATIENCE))
        yield


def _copy(source: Log, target: Log, tell: Callable[[Copied], None]) -> tuple[Copied, ...]:
    # The registry first: values and columns of others need it.
    names = sorted(source.topics(), key=lambda name: (name != SCHEMAS_TOPIC, name))
    before = source.snapshot(names)
    routes = [Route(source, target, name) for name in names]
    done = tuple(copy_topics(routes, tell=tell, witness=KeptMap(target)))
    if {at: b.end for at, b in source.snapshot(names).items()} != {
        at: b.end for at, b in before.items()
    }:
        raise LogError(
            "MIGRATE_WRITTEN",
            "somebody has written to the log while it was copied",
            hint="End all producers, and run the same command again: it goes on.",
        )
    return done


def _translated(
    source: Log, offsets: OffsetMap, places: Mapping[TopicPartition, int]
) -> dict[TopicPartition, int]:
    there = set(source.topics())
    return {
        place: offsets.translated(place, at) for place, at in places.items() if place.topic in there
    }


def _move_job(place: Path, source: Log, target: Log, offsets: OffsetMap) -> None:
    own = {name: source.topic(name).topic_id for name in source.topics()}

    def moved(at: ProgramOffset) -> ProgramOffset:
        # Files that are read as topics stay where they are.
        ids = {
            name: target.topic(name).topic_id if known == own.get(name) else known
            for name, known in at.topics.items()
        }
        logged = {p: n for p, n in at.positions.items() if ids[p.topic] != at.topics[p.topic]}
        positions = {**at.positions, **_translated(source, offsets, logged)}
        return replace(at, positions=positions, topics=ids)

    at = place_of(place)
    # One that was moved before a kill knows the topics of the target by their ids.
    if moved(at) != at:
        relocate(place, moved)
