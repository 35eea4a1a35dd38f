"""Rows taken one after the other where a trigger counts them: who is due after which row.

Only the trigger is asked row by row, in a few operations on numbers for all panes at once.
The rows between two firings are folded together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from penstock.kernel.assign import Whole
from penstock.kernel.trigger.machine import Arrivals, Columns, Machine, Situation
from penstock.kernel.trigger.node import Mask


@dataclass(frozen=True, slots=True)
class Queue:
    """The rows of some panes, by pane and in the order of their arrival.

    `begins` is where those of each pane begin, `counts` how many there are. `hits` says for
    each condition of the trigger which rows meet it.
    """

    begins: Whole
    counts: Whole
    time: Whole
    hits: Mapping[str, Mask]


@dataclass(frozen=True, slots=True)
class Played:
    """What the trigger did: panes fired by their number, after how many of their rows.

    `taken` is how many rows each pane took before it was finished.
    """

    state: Columns
    pane: Whole
    after: Whole
    last: Mask
    taken: Whole


def play(machine: Machine, state: Columns, queue: Queue, situation: Situation) -> Played:
    """Let panes take their rows, and ask the trigger after each row that may make it due."""
    panes = len(queue.counts)
    whole = {name: values.copy() for name, values in state.items()}
    taken = np.zeros(panes, dtype=np.int64)
    alive = ~machine.finished(whole)
    fired: list[tuple[Whole, Whole, Mask]] = []
    active = np.flatnonzero(alive & (taken < queue.counts))
    part, here = _part(whole, active), _situation(situation, active)
    while len(active):
        rows = np.minimum(machine.need(part), queue.counts[active] - taken[active])
        part = machine.take(part, _arrivals(queue, active, taken[active], rows), here)
        taken[active] += rows
        due = machine.due(part, here)
        going = taken[active] < queue.counts[active]
        if due.any():
            part = machine.fire(part, due, here)
            finished = machine.finished(part)
            fired.append((active[due], taken[active[due]], finished[due]))
            going &= ~finished
        if not going.all():
            for name, values in part.items():
                whole[name][active] = values
            active = active[going]
            part, here = _part(whole, active), _situation(situation, active)
    if not fired:
        none = np.empty(0, dtype=np.int64)
        return Played(whole, none, none, none.astype(np.bool_), taken)
    pane, after, last = (np.concatenate(arrays) for arrays in zip(*fired, strict=True))
    return Played(whole, pane, after, last, taken)


def _part(whole: Columns, at: Whole) -> Columns:
    return {name: values[at] for name, values in whole.items()}


def _situation(situation: Situation, at: Whole) -> Situation:
    return Situation(situation.end[at], situation.watermark, situation.clock)


def _arrivals(queue: Queue, active: Whole, taken: Whole, rows: Whole) -> Arrivals:
    begins = queue.begins[active] + taken
    if (rows == 1).all():
        hits = {leaf: met[begins].astype(np.int64) for leaf, met in queue.hits.items()}
        return Arrivals(rows, queue.time[begins], hits)
    bounds = np.stack([begins, begins + rows], axis=1).ravel()
    # `reduceat` wants every bound inside: the last one may be the end itself.
    time = np.append(queue.time, np.iinfo(np.int64).max)
    first = np.minimum.reduceat(time, bounds)[::2]
    hits = {}
    for leaf, met in queue.hits.items():
        total = np.concatenate([[0], np.cumsum(met)])
        hits[leaf] = total[begins + rows] - total[begins]
    return Arrivals(rows, first, hits)
