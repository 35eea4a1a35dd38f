from __future__ import annotations

from penstock.model.plan import Plan, Sink
from penstock.model.source import Stream
from penstock.model.stateless import Rekey, Union
from penstock.plan.bind import bind
from penstock.schema.binding import Bound
from penstock.schema.codec.format import Format
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BYTES, STRING

WORD = Schema((Field("word", STRING),))
JSON, TEXT = Format("json"), Format("string")


def streams(program: Plan) -> dict[str, Stream]:
    return {step.topic: step for step in program.walk() if isinstance(step, Stream)}


def test_topics_take_the_formats_they_are_bound_to() -> None:
    both = Union((Stream("Words", WORD), Stream("other", WORD)))
    program = Plan("p", (Sink(Rekey(both, ("word",)), "out", ("word",)),))
    bound = bind(program, {"Words": Bound(TEXT, JSON), "out": Bound(TEXT, JSON)})
    assert streams(bound)["Words"].format == JSON
    assert streams(bound)["Words"].key_format == TEXT
    assert streams(bound)["other"].format is None
    assert (bound.sinks[0].format, bound.sinks[0].key_format) == (JSON, TEXT)
    assert bound.sinks[0].relation.inputs[0].inputs == tuple(streams(bound).values())


def test_what_the_program_says_itself_wins() -> None:
    own = Stream("Words", WORD, format=TEXT)
    program = Plan("p", (Sink(own, "out", format=TEXT),))
    assert bind(program, {"Words": Bound(None, JSON), "out": Bound(None, JSON)}) == program


def test_bytes_asked_for_stay_bytes() -> None:
    record = Schema((Field("_key", BYTES), Field("value", BYTES)))
    program = Plan("p", (Sink(Stream("Words", record), "out", ("_key",), raw=True),))
    assert bind(program, {"Words": Bound(None, JSON), "out": Bound(None, JSON)}) == program


def test_without_bindings_a_program_is_itself() -> None:
    program = Plan("p", (Sink(Stream("Words", WORD), "out"),))
    assert bind(program, {}) is program
