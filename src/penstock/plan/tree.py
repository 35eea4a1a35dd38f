"""A program drawn as trees: each sink above what it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from penstock.model.plan import Plan
from penstock.model.relation import Relation
from penstock.model.sink_words import written
from penstock.model.words import step_words
from penstock.plan.share import share
from penstock.plan.step_text import step_text


def tree(program: Plan) -> list[str]:
    """Give the lines of a drawing; a step that several read is drawn once and then named."""
    return list(_Drawing(share(program)).lines())


class _Drawing:
    """The steps drawn so far, with the numbers of those that are read more than once."""

    def __init__(self, program: Plan) -> None:
        self._program = program
        readers = Counter(id(item) for step in program.walk() for item in step.inputs)
        readers.update(id(sink.relation) for sink in program.sinks)
        several = [step for step in program.walk() if readers[id(step)] > 1]
        self._numbers = {id(step): number for number, step in enumerate(several, start=1)}
        self._drawn: set[int] = set()

    def lines(self) -> Iterator[str]:
        for sink in self._program.sinks:
            keys = f" by {', '.join(sink.keys)}" if sink.keys else ""
            beside = [topic for topic in (sink.late_topic, sink.dead_topic) if topic]
            with_topics = f", beside it {', '.join(beside)}" if beside else ""
            yield _sited(f"to {sink.place}{written(sink)}{keys}{with_topics}", sink.site)
            yield from self._below(sink.relation, "", last=True)

    def _below(self, relation: Relation, margin: str, *, last: bool) -> Iterator[str]:
        branch, inner = ("└─ ", "   ") if last else ("├─ ", "│  ")
        number = self._numbers.get(id(relation))
        mark = f" [{number}]" if number else ""
        if id(relation) in self._drawn:
            yield f"{margin}{branch}{step_text(relation)}: see{mark}"
            return
        if number:
            self._drawn.add(id(relation))
        yield _sited(f"{margin}{branch}{step_text(relation)}{mark}", getattr(relation, "site", ""))
        for line in _details(relation):
            yield f"{margin}{inner}{'│' if relation.inputs else ' '} {line}"
        for index, item in enumerate(relation.inputs, start=1):
            yield from self._below(item, margin + inner, last=index == len(relation.inputs))


def _details(relation: Relation) -> Iterator[str]:
    yield from step_words(relation).details
    if not relation.inputs:
        yield f"gives {relation.schema}"


def _sited(text: str, site: str) -> str:
    return f"{text}  ({site})" if site else text
