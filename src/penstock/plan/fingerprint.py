"""What a plan, an operator or a state is known by, across runs and machines.

Where a step was written (`site`) does not count. The user's own code counts by its name, and
except for states by its text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.dedup import Dedup
from penstock.model.join import Join
from penstock.model.join_bound import AsOf
from penstock.model.latest import Latest
from penstock.model.match import Match
from penstock.model.physical import Keyed, Physical, Stateful
from penstock.model.process import Process
from penstock.model.relation import Relation
from penstock.model.settle import Settle
from penstock.model.top_n import TopN
from penstock.model.versions import Versions
from penstock.model.window import Buffered, Custom, Sliding
from penstock.plan.reads import reads
from penstock.plan.token import Token, token
from penstock.plan.user_code import by_name, by_text

_LENGTH = 16
_OWN: Mapping[type[Relation], tuple[str, ...]] = {
    Dedup: ("keys", "within"),
    TopN: ("keys", "by", "n", "descending"),
    Latest: ("keys", "order"),
    Versions: ("keys",),
    Join: ("on", "how", "bound", "eager", "condition"),
    Process: ("keys", "name"),
    Match: ("keys", "pattern", "skip"),
    Settle: ("keys",),
}
"""What decides how the state of a step looks, beside the columns it keeps."""


def fingerprint(plan: Physical) -> str:
    """Give what tells two plans apart; settings are left out, since they change no row."""
    return _hash(token((plan.name, plan.scans, plan.levels, plan.outputs), by_text))


def operator_fingerprint(keyed: Keyed) -> str:
    """Give what tells two operators apart, with all that lies before them."""
    return _hash(token((keyed.relation, keyed.keep_late), by_text))


def state_fingerprint(keyed: Keyed) -> str:
    """Give what tells the stored states of two operators apart.

    It holds what the layout of the state follows from and no more: with another lateness,
    another source or a corrected function an operator goes on with the state there is.
    """
    return _hash(token(_layout(keyed.relation), by_name))


def _layout(relation: Stateful) -> tuple[object, ...]:
    kind = type(relation).__name__
    if isinstance(relation, Process):
        # What it remembers is declared, and migrated where the declaration changed.
        known = relation.source.schema
        # Rows that wait for the watermark are kept whole.
        names = known.names if relation.in_order else relation.keys
        types = tuple((name, known.field(name).type) for name in names)
        return (kind, _own(relation), types)
    if isinstance(relation, Join):
        sides = tuple(
            (item.retracts, tuple((f.name, f.type) for f in item.schema.fields))
            for item in relation.inputs
        )
        return (kind, _own(relation), sides)
    known = relation.source.schema
    types = tuple((name, known.field(name).type) for name in _kept(relation, relation.source))
    return (kind, _own(relation), relation.source.retracts, types)


def _kept(relation: Stateful, source: Relation) -> tuple[str, ...]:
    """Give the columns of the input that its state may hold."""
    names = source.schema.names
    if _keeps_rows(relation):
        return names
    read = reads(relation)
    return tuple(name for name in names if name in read)


def _keeps_rows(relation: Stateful) -> bool:
    if isinstance(relation, Dedup):
        return relation.source.retracts
    if isinstance(relation, Aggregate):
        return isinstance(relation.window, Buffered | Sliding | Custom)
    return True


def _own(relation: Stateful) -> tuple[object, ...]:
    if not isinstance(relation, Aggregate):
        own = {name: getattr(relation, name) for name in _OWN[type(relation)]}
        if isinstance(relation, Join) and isinstance(relation.bound, AsOf):
            own["bound"] = replace(relation.bound, keep=timedelta(0))
        if isinstance(relation, TopN) and (relation.then or relation.ties or relation.until):
            own["further"] = (relation.then, relation.ties, relation.until)
        return tuple(own.values())
    how = (relation.refinement.mode, relation.refinement.stamp, relation.panes)
    return (relation.keys, relation.measures, relation.window, relation.when, how)


def _hash(value: Token) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
