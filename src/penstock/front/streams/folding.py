"""What is computed of the values of a key: the measures of the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from penstock.errors import RunError
from penstock.front.streams.node import Codec, Count, Fold, Reduce, What
from penstock.front.streams.reading import KEY, VALUE
from penstock.model.expr import Column
from penstock.model.measure import Measure
from penstock.schema.types import BYTES

Held: TypeAlias = tuple[Any, ...]
"""Nothing yet, or the one value so far."""


def measure_of(what: What, taken: Codec, codec: Codec, site: str) -> Measure:
    """Give what is computed; records come with the serdes `taken`, results have `codec`."""
    match what:
        case Count():
            return Measure(VALUE, "count", site=site)
        case Reduce():
            user: Reducing | Folding = Reducing(what, taken, codec)
        case Fold():
            user = Folding(what, taken, codec)
    columns = (Column(KEY), Column(VALUE))
    return Measure(VALUE, "user", columns, user=user, gives=BYTES, site=site)


@dataclass(frozen=True)
class Reducing:
    """Puts values together two at a time; the first is the result of one."""

    what: Reduce
    taken: Codec
    codec: Codec

    def init(self) -> Held:
        """Give nothing."""
        return ()

    def add(self, held: Held, key: bytes, value: bytes) -> Held:  # noqa: ARG002
        """Put one value more to what is held."""
        return self.merge(held, (self.taken.values.deserialize(value),))

    def merge(self, one: Held, other: Held) -> Held:
        """Put two results together."""
        if not one or not other:
            return one or other
        return (self.what.reducer(one[0], other[0]),)

    def retract(self, held: Held, key: bytes, value: bytes) -> Held:
        """Refuse: nothing says how a value is taken back."""
        raise NotImplementedError

    def result(self, held: Held) -> bytes | None:
        """Give the bytes of the result."""
        return self.codec.values.serialize(held[0]) if held else None


@dataclass(frozen=True, slots=True)
class Part:
    """The values of a key so far: those that are added up, and those still to be added."""

    total: Held = ()
    waiting: tuple[tuple[Any, Any], ...] = ()


@dataclass(frozen=True)
class Folding:
    """Adds values one by one to a start value.

    Without a merger two parts are put together by adding the records of the later one to the
    earlier: so a part that was begun alone keeps its records until then.
    """

    what: Fold
    taken: Codec
    codec: Codec

    def init(self) -> Part:
        """Give no values."""
        return Part()

    def add(self, part: Part, key: bytes, value: bytes) -> Part:
        """Add one value, or keep it."""
        pair = (self.taken.keys.deserialize(key), self.taken.values.deserialize(value))
        if self.what.merger is not None or part.total:
            return Part(self._added(part.total, pair))
        return Part(waiting=(*part.waiting, pair))

    def merge(self, one: Part, other: Part) -> Part:
        """Put the later part to the earlier."""
        if not (one.total or one.waiting):
            return other
        if self.what.merger is not None and one.total and other.total:
            return Part((self.what.merger(one.total[0], other.total[0]),))
        if other.total:
            raise RunError(
                "STREAMS_MERGER",
                "two results of an aggregate are to be put together, and it has no merger",
                hint="Give one: aggregate(..., merger=lambda one, other: ...).",
            )
        total = one.total
        for pair in (*one.waiting, *other.waiting):
            total = self._added(total, pair)
        return Part(total)

    def retract(self, part: Part, key: bytes, value: bytes) -> Part:
        """Refuse: nothing says how a value is taken back."""
        raise NotImplementedError

    def result(self, part: Part) -> bytes | None:
        """Give the bytes of the result."""
        total = part.total
        for pair in part.waiting:
            total = self._added(total, pair)
        return self.codec.values.serialize(total[0]) if total else None

    def _added(self, total: Held, pair: tuple[Any, Any]) -> Held:
        before = total[0] if total else self.what.initial()
        return (self.what.aggregator(*pair, before),)
