"""What cannot be run is refused before anything starts."""

from __future__ import annotations

from penstock.errors import PlanError
from penstock.model.physical import Settings
from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream


def refuse(program: Plan, settings: Settings) -> None:
    """Raise for the first reason why a program cannot be run with these settings."""
    _refuse_settings(settings)
    _refuse_loops(program)


def _refuse_settings(settings: Settings) -> None:
    for name, value in (("buckets", settings.buckets), ("parallelism", settings.parallelism)):
        if value <= 0:
            raise PlanError("PLAN_SETTING", f"{name} is {value}", hint="Give one above 0.")


def _refuse_loops(program: Plan) -> None:
    read = {step.topic: step for step in program.walk() if isinstance(step, Stream)}
    for sink in program.sinks:
        for topic in _written(sink):
            if topic in read:
                raise PlanError(
                    "PLAN_LOOP",
                    f'topic "{topic}" is written ({sink.site}) and read ({read[topic].site})'
                    " by one program, which would never end",
                    hint="Write to another topic.",
                )


def _written(sink: Sink) -> list[str]:
    results = sink.topic if sink.store is None else None
    topics = (results, sink.late_topic, sink.dead_topic)
    return [topic for topic in topics if topic]
