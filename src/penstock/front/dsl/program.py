"""What a program has been told to write so far."""

from __future__ import annotations

from penstock.errors import ModelError
from penstock.model.plan import Plan, Sink


class Program:
    """The sinks of one program, as its streams add them."""

    def __init__(self, name: str) -> None:
        if not name.strip():
            raise ModelError(
                "PROGRAM_NAME", "a program has no name", hint='Give it one, as in App("shop").'
            )
        self.name = name
        self._sinks: tuple[Sink, ...] = ()

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """What is written, in the order it was said."""
        return self._sinks

    def write(self, sink: Sink) -> None:
        """Add a sink; a topic written twice is refused, and nothing changes."""
        self._sinks = Plan(self.name, (*self._sinks, sink)).sinks

    def plan(self) -> Plan:
        """Give the program as a value."""
        return Plan(self.name, self._sinks)
