"""What a builder has been told so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.errors import ModelError
from penstock.front.streams.node import Aggregated, Codec, Flow, Topic, Written
from penstock.model.site import user_site


@dataclass(slots=True)
class Program:
    """What is written, and the tables that can be asked by name."""

    codec: Codec
    written: list[Written] = field(default_factory=list)
    tables: list[Aggregated | Topic] = field(default_factory=list)
    _names: set[str] = field(default_factory=set)

    def write(self, flow: Flow, topic: str) -> None:
        """Let a flow be written to a topic."""
        self.written.append(Written(flow, topic, user_site()))

    def watch(self, flow: Flow) -> None:
        """Let a flow run for what its last step does elsewhere."""
        self.written.append(Written(flow, self.name("foreach"), user_site(), "nowhere"))

    def name(self, wanted: str) -> str:
        """Give a name that nothing else has yet, as the second count is `count-2`."""
        number = 1
        while f"{wanted}-{number}" in self._names:
            number += 1
        return self.claim(f"{wanted}-{number}")

    def claim(self, name: str) -> str:
        """Take a name; one that is taken is refused."""
        if name in self._names:
            raise ModelError(
                "STREAMS_NAME",
                f'two stores are called "{name}" ({user_site()})',
                hint="Give each store a name of its own: its topics are called after it.",
            )
        self._names.add(name)
        return name


def same_program(one: Program, other: Program) -> None:
    """Refuse to bring together what two builders made."""
    if one is not other:
        raise ModelError(
            "PROGRAM_MIXED",
            f"streams of two builders are brought together ({user_site()})",
            hint="Make all of them from one KStreamBuilder.",
        )
