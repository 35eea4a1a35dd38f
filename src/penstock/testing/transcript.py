"""Transcripts: input, watermarks, clocks and crashes in YAML, and what must come of them.

A transcript names a program, or describes one, and lists steps. `docs/testing.md` has the form.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from penstock.errors import UsageError, did_you_mean
from penstock.model.physical import Settings
from penstock.model.plan import Plan
from penstock.model.source import Stream
from penstock.schema.types import TIMESTAMP
from penstock.testing.driver import TestDriver
from penstock.testing.expectation import match_letters, match_rows
from penstock.testing.inline import inline_plan
from penstock.testing.moment import read_moment
from penstock.testing.stage import OpenStage, Row, Stage

_BESIDE = {"input": {"partition", "at"}}


@dataclass(frozen=True, slots=True)
class TranscriptStep:
    """One line of a transcript: what is done, with what, and where it is written."""

    kind: str
    value: Any
    options: Mapping[str, Any]
    site: str


@dataclass(frozen=True, slots=True)
class Transcript:
    """A program, and what is done to it step by step."""

    name: str
    program: Plan
    steps: tuple[TranscriptStep, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)


def load_transcript(file: Path) -> Transcript:
    """Read a transcript; one that cannot be understood is refused by file and line."""
    loader = _Loader(file.read_text())
    try:
        node = loader.get_single_node()
        found = loader.construct_document(node) if node is not None else None
    except yaml.YAMLError as error:
        raise UsageError(
            "TRANSCRIPT_FORMAT",
            f"{file.name} is not YAML: {' '.join(str(error).split())}",
            hint="Correct the file at the line named.",
        ) from None
    finally:
        loader.dispose()
    if not isinstance(found, Mapping) or not {"program", "steps"} <= set(found):
        raise _refused("a transcript has a program and steps", file.name)
    name = str(found.get("name", file.name.split(".", 1)[0]))
    steps = tuple(_steps(found["steps"], _lines(node), file.name))
    settings = found.get("settings", {})
    return Transcript(name, _program(name, found["program"], file.name), steps, settings)


def run_transcript(
    transcript: Transcript, open_stage: OpenStage | None = None, *, crash_after: str | None = None
) -> None:
    """Do all steps and compare; what differs is an assertion that names the line.

    With `crash_after` every batch dies after that step once and is replayed.
    """
    stage = (open_stage or open_driver)(transcript.program, transcript.settings)
    performance = _Performance(transcript.program, stage, crash_after)
    for step in transcript.steps:
        performance.perform(step)


def open_driver(program: Plan, settings: Mapping[str, Any]) -> TestDriver:
    """Make a test driver as the settings of a transcript say."""
    how = dict(settings)
    clock = how.pop("clock", None)
    watermarks = how.pop("watermarks", "automatic")
    return TestDriver(
        program,
        settings=Settings(**how),
        clock=None if clock is None else read_moment(clock),
        watermarks=watermarks,
    )


class _Performance:
    """Does the steps of a transcript on a stage."""

    def __init__(self, program: Plan, stage: Stage, crash_after: str | None) -> None:
        streams = [step for step in program.walk() if isinstance(step, Stream)]
        self._streams = {stream.topic: stream for stream in streams}
        self._outputs = {sink.topic: sink.relation.schema for sink in program.sinks}
        self._stage = stage
        self._crash_after = crash_after
        self._seen: dict[tuple[str, str], int] = {}
        self._does: dict[str, Callable[[TranscriptStep], None]] = {
            "input": self._input,
            "watermark": self._watermark,
            "clock": self._clock,
            "finish": lambda _: self._act(stage.finish),
            "crash": lambda step: stage.crash_after(step.value),
            "expect": self._expect,
            "table": self._table,
            "late": lambda step: self._letters(step, stage.late),
            "dead": lambda step: self._letters(step, stage.dead_letters),
        }

    def perform(self, step: TranscriptStep) -> None:
        if step.kind not in self._does:
            hint = did_you_mean(step.kind, self._does)
            raise _refused(f'there is no step "{step.kind}"', step.site, hint)
        self._does[step.kind](step)

    def _act(self, action: Callable[[], None]) -> None:
        if self._crash_after is not None:
            self._stage.crash_after(self._crash_after)
        action()

    def _input(self, step: TranscriptStep) -> None:
        at = step.options.get("at")
        for topic, rows in self._by_topic(step, self._streams):
            pushed = [self._typed(topic, row) for row in rows]
            partition = int(step.options.get("partition", 0))
            taken = None if at is None else read_moment(at)
            self._act(partial(self._stage.push, topic, pushed, partition=partition, at=taken))

    def _typed(self, topic: str, row: Row) -> Row:
        stream = self._streams.get(topic)
        times = {f.name for f in stream.columns.fields if f.type == TIMESTAMP} if stream else set()
        if stream and stream.event_time:
            times.add(stream.event_time)
        return {
            name: read_moment(value) if name in times and value is not None else value
            for name, value in row.items()
        }

    def _watermark(self, step: TranscriptStep) -> None:
        given = step.value if isinstance(step.value, Mapping) else {None: step.value}
        for topic, time in given.items():
            self._act(partial(self._stage.advance_watermark, read_moment(time), topic=topic))

    def _clock(self, step: TranscriptStep) -> None:
        text = str(step.value)
        if text.startswith("+"):
            by = read_moment(text.removeprefix("+").strip())
            self._act(lambda: self._stage.advance_clock(by))
        else:
            self._act(lambda: self._stage.advance_clock(to=read_moment(step.value)))

    def _expect(self, step: TranscriptStep) -> None:
        for topic, rows in self._by_topic(step, self._outputs):
            match_rows(rows, self._stage.take(topic), self._outputs.get(topic), step.site)

    def _table(self, step: TranscriptStep) -> None:
        for topic, rows in self._by_topic(step, self._outputs):
            match_rows(rows, self._stage.table(topic), self._outputs.get(topic), step.site)

    def _letters(self, step: TranscriptStep, read: Callable[[str], list[Row]]) -> None:
        for topic, rows in self._by_topic(step, self._outputs):
            found = read(topic)
            seen = self._seen.get((step.kind, topic), 0)
            self._seen[step.kind, topic] = len(found)
            match_letters(rows, found[seen:], step.site)

    def _by_topic(
        self, step: TranscriptStep, topics: Mapping[str, object]
    ) -> Iterator[tuple[str, list[Row]]]:
        given = step.value
        if isinstance(given, list | None) and len(topics) == 1:
            yield next(iter(topics)), given or []
        elif isinstance(given, Mapping):
            for topic, rows in given.items():
                yield topic, rows or []
        else:
            raise _refused(f'step "{step.kind}" has neither rows nor topics with rows', step.site)


class _Loader(yaml.SafeLoader):
    """YAML as it is read: 12:03:10 is a text, not a number to the base of 60, and so are dates."""


_Loader.yaml_implicit_resolvers = {
    sign: [
        (tag, pattern)
        for tag, pattern in found
        if tag not in ("tag:yaml.org,2002:int", "tag:yaml.org,2002:timestamp")
    ]
    for sign, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"[-+]?\d+$"),
    list("-+0123456789"),
)


def _steps(given: object, lines: list[int], name: str) -> Iterator[TranscriptStep]:
    if not isinstance(given, list) or len(given) != len(lines):
        raise _refused("the steps are not a list", name)
    for step, line in zip(given, lines, strict=True):
        site = f"{name}:{line}"
        if isinstance(step, str):
            yield TranscriptStep(step, None, {}, site)
            continue
        kinds = [k for k in step if k not in _BESIDE["input"]] if isinstance(step, Mapping) else []
        if len(kinds) != 1:
            raise _refused(f"a step has one name, and this one has {kinds}", site)
        kind = kinds[0]
        options = {key: value for key, value in step.items() if key != kind}
        if not set(options) <= _BESIDE.get(kind, set()):
            raise _refused(f'step "{kind}" does not take {", ".join(options)}', site)
        yield TranscriptStep(kind, step[kind], options, site)


def _lines(node: Any) -> list[int]:  # noqa: ANN401
    """Give the line of each step."""
    for key, value in node.value:
        if key.value == "steps" and isinstance(value, yaml.SequenceNode):
            return [item.start_mark.line + 1 for item in value.value]
    return []


def _program(name: str, given: object, site: str) -> Plan:
    if isinstance(given, Mapping):
        return inline_plan(name, given, site)
    module, _, attribute = str(given).partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(
            "TRANSCRIPT_PROGRAM",
            f'the program "{given}" is not found: {error} ({site})',
            hint='Write it as "module:name", with a module that Python can import.',
        ) from None
    if isinstance(found, Plan):
        return found
    made = found.plan() if hasattr(found, "plan") else found()
    return made if isinstance(made, Plan) else made.plan()


def _refused(fact: str, site: str, hint: str = "") -> UsageError:
    return UsageError(
        "TRANSCRIPT_FORMAT",
        f"{fact} ({site})",
        hint=hint or "docs/testing.md shows the form of a transcript.",
    )
