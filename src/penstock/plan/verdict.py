"""What it takes to let a job go on as a changed program, decided before anything is touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from penstock.model.job_settings import JOB_SETTINGS, JobSettings
from penstock.model.physical import Output, Physical
from penstock.model.plan import Sink
from penstock.plan.compare import Comparison
from penstock.plan.finding import Finding, Kind, hardest
from penstock.plan.operator_match import match_operators
from penstock.plan.token import token
from penstock.plan.user_code import by_bytecode

_JOB = "job"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a job: its program, how it is run, and the fingerprint it was stored with."""

    physical: Physical
    settings: JobSettings = JOB_SETTINGS
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Lost:
    """A partition whose beginning is not in the log any more: what is kept begins at `kept`."""

    topic: str
    partition: int
    kept: int


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What decides beside the programs.

    `lost` are the inputs that are not whole; `writers` says which other job writes a topic,
    `readers` who else reads one. `from_now`: changes of what is made of each row begin now.
    `replaces`: rows that are only ever added may be made again, and topics made anew.
    """

    lost: tuple[Lost, ...] = ()
    writers: Mapping[str, str] = field(default_factory=dict)
    readers: Mapping[str, str] = field(default_factory=dict)
    from_now: bool = False
    replaces: bool = False


ORDINARY = Circumstances()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done with a job, and why, part by part.

    `operators` says which operator of the program before each one goes on with.
    """

    kind: Kind
    reason: str
    findings: tuple[Finding, ...] = ()
    operators: Mapping[str, str] = field(default_factory=dict)

    def of(self, part: str) -> Kind:
        """Give what it takes for one operator or output."""
        return hardest(tuple(item.kind for item in self.findings if item.part == part))


def verdict(before: Version, after: Version, how: Circumstances = ORDINARY) -> Verdict:
    """Compare two versions of a job."""
    matched = match_operators(before.physical, after.physical)
    comparison = Comparison(before.physical, after.physical, matched)
    found = [
        *_of_operators(before.physical, after.physical, comparison, matched),
        *_of_outputs(before.physical, after.physical, comparison, how),
        *_of_settings(before, after),
    ]
    if not found and _text_differs(before, after):
        reason = "the code of a function that it imports has changed"
        found.append(Finding(_JOB, "rebuild", reason, forward=True))
    findings = tuple(_chosen(item, how) for item in dict.fromkeys(found))
    findings += tuple(_refusals(after.physical, findings, how))
    kind = hardest(tuple(item.kind for item in findings))
    return Verdict(kind, _reason(kind, findings), findings, matched)


def _of_operators(
    before: Physical, after: Physical, comparison: Comparison, matched: Mapping[str, str]
) -> Iterator[Finding]:
    for keyed in after.operators:
        yield from comparison.operator(keyed)
    for keyed in before.operators:
        if keyed.id not in matched.values():
            yield Finding(keyed.id, "compatible", f'operator "{keyed.id}" is gone with its state')
    moved = [f"{old} is {new}" for new, old in matched.items() if new != old]
    if moved:
        yield Finding(_JOB, "compatible", f"operators have other names: {', '.join(moved)}")


def _of_outputs(
    before: Physical, after: Physical, comparison: Comparison, how: Circumstances
) -> Iterator[Finding]:
    known = {output.sink.place: output for output in before.outputs}
    for output in after.outputs:
        old = known.pop(output.sink.place, None)
        if old is None:
            reason = f'"{output.sink.place}" is new, and holds nothing of what was read so far'
            yield Finding(output.id, "rebuild", reason, forward=True)
            continue
        yield from comparison.rows(old.sink.relation, output.sink.relation, output.id)
        yield from _of_sink(old, output, how)
    for place, output in known.items():
        reason = f'"{place}" is not written any more and stays as it is'
        yield Finding(output.id, "compatible", reason)


def _of_sink(before: Output, after: Output, how: Circumstances) -> Iterator[Finding]:
    old, new = before.sink, after.sink
    if _columns(old) != _columns(new):
        yield _of_columns(after, how)
    ways = (
        ("keys", "key"),
        ("upsert", "way of writing"),
        ("gone", "way of deleting"),
        ("raw", "form"),
    )
    for name, words in ways:
        if getattr(old, name) != getattr(new, name):
            yield Finding(after.id, "rebuild", f'the {words} of "{new.place}" is another')
    formats = [(item.format, item.key_format) for item in (old, new)]
    if token(formats[0], by_bytecode) != token(formats[1], by_bytecode):
        yield Finding(after.id, "rebuild", f'"{new.place}" is written in another format')
    if (old.late, old.dead) != (new.late, new.dead):
        reason = f'late rows and dead letters of "{new.place}" go elsewhere from now on'
        yield Finding(after.id, "compatible", reason)


def _of_columns(output: Output, how: Circumstances) -> Finding:
    sink = output.sink
    told = f'"{sink.place}" gets other columns'
    if sink.store is not None:
        return Finding(output.id, "rebuild", f"{told}, and is made anew")
    if sink.format is not None:
        return Finding(output.id, "migrate", f"{told} from now on")
    reader = how.readers.get(sink.topic)
    if how.replaces and reader is None:
        return Finding(output.id, "rebuild", f"{told}, and is made anew")
    why = f', and "{reader}" reads it' if reader else ""
    return Finding(
        output.id,
        "refuse",
        f"{told}, which a topic with a schema has for good{why}: write to another topic, or in a"
        " format; --replace-results makes one anew that nobody reads",
    )


def _of_settings(before: Version, after: Version) -> Iterator[Finding]:
    old, new = before.physical.settings, after.physical.settings
    if old.parallelism != new.parallelism:
        reason = f"it runs with {new.parallelism} tasks, and ran with {old.parallelism}"
        yield Finding(_JOB, "migrate", reason)
    if replace(old, parallelism=0, buckets=0) != replace(new, parallelism=0, buckets=0):
        yield Finding(_JOB, "compatible", "it is run with other settings")
    if before.settings != after.settings:
        yield Finding(_JOB, "compatible", "its job settings have changed")


def _chosen(finding: Finding, how: Circumstances) -> Finding:
    if how.from_now and finding.forward and finding.kind == "rebuild":
        reason = f"{finding.reason}; from now on, as was asked"
        return replace(finding, kind="compatible", reason=reason)
    return finding


def _refusals(
    physical: Physical, findings: tuple[Finding, ...], how: Circumstances
) -> Iterator[Finding]:
    for output in physical.outputs:
        other = how.writers.get(output.sink.place)
        if other is not None:
            reason = f'job "{other}" writes "{output.sink.place}" already'
            yield Finding(output.id, "refuse", reason)
    rebuilds = any(item.kind == "rebuild" for item in findings)
    for output in physical.outputs if rebuilds else ():
        if output.sink.format is not None and _takes_back(output.sink):
            reason = (
                f'"{output.sink.place}" holds changes as bytes, of which none can be taken back by'
                " another version: write it as a table, or without a format"
            )
            yield Finding(output.id, "refuse", reason)
    read = {scan.stream.topic for scan in physical.scans}
    lost = [item for item in how.lost if item.topic in read]
    if lost and rebuilds:
        first = lost[0]
        yield Finding(
            _JOB,
            "refuse",
            f'topic "{first.topic}" is no longer whole: partition {first.partition} begins at'
            f" offset {first.kept}",
        )


def _text_differs(before: Version, after: Version) -> bool:
    known = before.fingerprint
    return bool(known and after.fingerprint) and known != after.fingerprint


def _takes_back(sink: Sink) -> bool:
    """Whether it is written as changes with their weights."""
    return sink.relation.retracts and not sink.upsert


def _columns(sink: Sink) -> object:
    return _takes_back(sink), tuple((item.name, item.type) for item in sink.relation.schema.fields)


def _reason(kind: Kind, findings: tuple[Finding, ...]) -> str:
    if kind == "unchanged":
        return "it is as it was"
    told = [item.reason for item in findings if item.kind == kind]
    if kind == "refuse":
        told += [f"it needs a rebuild: {i.reason}" for i in findings if i.kind == "rebuild"]
    return "; ".join(dict.fromkeys(told))
