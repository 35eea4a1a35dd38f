"""Answers that change when a version comes which they should have met."""

from __future__ import annotations

import polars as pl

from penstock.kernel.as_of_rows import GIVEN, MET, OPEN, Parts, Times, pending
from penstock.kernel.fold.grouping import join
from penstock.kernel.join_result import net
from penstock.kernel.multiset import ORDER
from penstock.kernel.port import TIME, WEIGHT, Frame, State
from penstock.model.join import Join
from penstock.model.join_bound import AsOf

_PLACE = "_place"


class Corrections:
    """Keeps left rows for as long as versions, and answers them anew where one came or went."""

    def __init__(self, relation: Join, parts: Parts) -> None:
        bound = relation.bound
        assert isinstance(bound, AsOf)
        self._relation = relation
        self._parts = parts
        self._wait = bound.wait
        self._retracts = relation.left.retracts
        self._shows_unmet = relation.keeps_right

    def step(
        self,
        state: State,
        left: tuple[Frame, Frame],
        versions: tuple[Frame, Frame, Frame],
        times: Times,
    ) -> tuple[dict[str, Frame], Frame]:
        """Take left rows and those that meet nothing, and versions before, after and new."""
        rows, alone = left
        before, after, new = versions
        final = rows.clear()
        if self._retracts:
            past = rows[TIME] < times.limit_before
            final, rows = rows.filter(past), rows.filter(~past)
        held = state.tables.get(OPEN, self._parts.open)
        now = pending(held, rows, self._relation)
        was, again, fresh = self._asked(held, now, new, times)
        met = state.tables.get(MET, self._parts.met)
        given, results = self._parts.final(
            state.tables.get(GIVEN, self._parts.given.empty), (alone, final), after
        )
        keys = self._keys(again, was, new)
        gone = self._results(was, before, keys, met)
        come = self._results(again, after, keys, met)
        weight = pl.col(WEIGHT).cast(pl.Int64)
        output = net(pl.concat([gone.with_columns(-weight), come.with_columns(weight)]))
        leaving = now[TIME] < times.limit
        kept = now.filter(~leaving) if leaving.any() else now
        given, met = self._left(given, met, now.filter(leaving), after)
        given = self._parts.given.without_owed(given, times.limit)
        first = self._parts.answers.rows(fresh, after, self._parts.places(fresh, after))
        return {OPEN: kept, GIVEN: given, MET: met}, pl.concat([results, output, first])

    def _asked(
        self, held: Frame, now: Frame, new: Frame, times: Times
    ) -> tuple[Frame, Frame, Frame]:
        """Give left rows whose answer may differ, as they were and as they are, and others new."""
        look_up = self._parts.look_up
        first = held[ORDER].max()
        fresh = pl.col(ORDER) > (first if isinstance(first, int) else -1)
        due, was_due = pl.col(WEIGHT) > 0, pl.col(WEIGHT) > 0
        if self._wait:
            due, was_due = due & (pl.col(TIME) < times.now), was_due & (pl.col(TIME) < times.before)
            fresh = fresh | (pl.col(TIME) >= times.before)
        now_due = now.filter(due)
        keys = look_up.right_keys(new)
        if self._retracts or self._shows_unmet:
            gone = held.join(now, on=ORDER, how="anti", maintain_order="left")
            moved = pl.concat([now_due.filter(fresh), gone])
            keys = pl.concat([keys, look_up.left_keys(moved)])
        was = held.filter(was_due)
        was = was.filter(look_up.among(look_up.left_keys(was), keys))
        again = look_up.among(look_up.left_keys(now_due), keys)
        return was, now_due.filter(again), now_due.filter(fresh & ~again)

    def _keys(self, again: Frame, was: Frame, new: Frame) -> Frame:
        look_up = self._parts.look_up
        return pl.concat(
            [look_up.left_keys(again), look_up.left_keys(was), look_up.right_keys(new)]
        )

    def _results(self, rows: Frame, versions: Frame, keys: Frame, met: Frame) -> Frame:
        places = self._parts.places(rows, versions)
        results = self._parts.answers.rows(rows, versions, places)
        if not self._shows_unmet:
            return results
        unmet = self._unmet(versions, places, keys, met)
        return pl.concat([results, self._parts.answers.alone(unmet)])

    def _unmet(self, versions: Frame, places: pl.Series, keys: Frame, met: Frame) -> Frame:
        """Give the versions, of some keys, that no left row meets."""
        look_up = self._parts.look_up
        mine = look_up.among(look_up.right_keys(versions), keys)
        there = versions.with_row_index(_PLACE).filter(mine & (versions[WEIGHT] > 0))
        there = there.filter(~pl.col(_PLACE).is_in(places.drop_nulls().implode()))
        return join(there, met, met.columns, "anti")

    def _left(
        self, given: Frame, met: Frame, leaving: Frame, versions: Frame
    ) -> tuple[Frame, Frame]:
        """Remember what is needed of rows whose answer is final."""
        leaving = leaving.filter(pl.col(WEIGHT) > 0)
        if leaving.is_empty() or not (self._retracts or self._shows_unmet):
            return given, met
        places = self._parts.places(leaving, versions)
        if self._retracts:
            given = self._parts.given.added(
                given, self._parts.given.beside(leaving, versions, places)
            )
        if self._shows_unmet:
            hit = versions[places.drop_nulls().unique(maintain_order=True)]
            met = pl.concat([met, hit.select(met.columns)]).unique(maintain_order=True)
        return given, met
