"""How many different values there are, nearly: HyperLogLog.

4,096 registers a group keep the largest rank of the hashes that fell to them; the error is
1.6 % (one standard deviation). Registers are kept eight to a row, and only where one is set,
so that a group with few values is small. The estimate is Ertl's (arXiv:1702.01284), which needs
no table of corrections.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from penstock.kernel.bucket import hash_of
from penstock.kernel.fold.accumulator import COUNT, RESULT, InTable
from penstock.kernel.fold.argument import Task
from penstock.kernel.fold.grouping import group, group_anyhow
from penstock.kernel.fold.spread import distinct
from penstock.kernel.port import Frame

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Places: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]
Ranks: TypeAlias = np.ndarray[Any, np.dtype[np.uint8]]

_BITS = 12
_REGISTERS = 2**_BITS
_LANES = 8
_BLOCK = "_block"
_REGISTER = "_register"
_RANK = "_rank"
_GROUP = "_group"
_RANKS = [f"_r{lane}" for lane in range(_LANES)]


@dataclass(frozen=True, slots=True)
class Registers:
    """For each group and block of registers the ranks reached."""

    name: str
    columns: tuple[str, ...]

    def fold(self, rows: Frame, by: Sequence[str]) -> Frame:
        """Let each value reach its register."""
        there = rows.drop_nulls(list(self.columns))
        hashes = hash_of(there, self.columns)
        # A one below the bits that are left ends the count of leading zeros.
        rest = (hashes << np.uint64(_BITS)) | np.uint64(2 ** (_BITS - 1))
        register = (hashes >> np.uint64(64 - _BITS)).astype(np.int16)
        rank = (64 - _highest_bit(rest)).astype(np.uint8)
        few = None if len(by) > 1 else _few_groups(there[by[0]], rows.height)
        if few is not None:
            return _laid_out(few, register, rank).rename({_GROUP: by[0]})
        ranks = there.select(by).with_columns(
            pl.Series(_REGISTER, register), pl.Series(_RANK, rank)
        )
        # One rank a register is left before they are laid side by side.
        reached = group_anyhow(ranks, [*by, _REGISTER], [pl.col(_RANK).max()])
        lane = pl.col(_REGISTER) % _LANES
        blocks = reached.select(
            *by,
            (pl.col(_REGISTER) // _LANES).alias(_BLOCK),
            *(
                pl.when(lane == i).then(_RANK).otherwise(0).cast(pl.UInt8).alias(name)
                for i, name in enumerate(_RANKS)
            ),
            pl.lit(1, pl.Int64).alias(COUNT),
        )
        return self.reduce(blocks, by)

    def reduce(self, table: Frame, by: Sequence[str]) -> Frame:
        """Keep the highest rank of each register."""
        highest = [pl.col(name).max() for name in (*_RANKS, COUNT)]
        return group_anyhow(table, [*by, _BLOCK], highest)


def _few_groups(groups: pl.Series, rows: int) -> pl.Series | None:
    """Give groups that are numbered from 0, where the registers of all of them fit beside rows."""
    if groups.dtype != pl.Int64 or not len(groups) or groups.null_count():
        return None
    least, most = groups.min(), groups.max()
    assert isinstance(least, int)
    assert isinstance(most, int)
    return groups if least >= 0 and (most + 1) * _REGISTERS <= max(rows, _REGISTERS) else None


def _laid_out(groups: pl.Series, register: Places, rank: Ranks) -> Frame:
    """Let ranks reach the registers of a few groups, which lie one after the other."""
    table = np.zeros((int(groups.max()) + 1) * _REGISTERS, dtype=np.uint8)  # type: ignore[arg-type]
    np.maximum.at(table, groups.to_numpy() * _REGISTERS + register, rank)
    blocks = table.reshape(-1, _LANES)
    reached = np.flatnonzero(blocks.any(axis=1))
    group, block = np.divmod(reached, _REGISTERS // _LANES)
    lanes = {name: blocks[reached, lane] for lane, name in enumerate(_RANKS)}
    ones = np.ones(len(reached), dtype=np.int64)
    return pl.DataFrame({_GROUP: group, _BLOCK: block.astype(np.int16), **lanes, COUNT: ones})


def nearly_distinct(task: Task) -> InTable:
    """How many different values there are; exactly, where rows may be taken back."""
    if task.retracts:
        # A register cannot be lowered again.
        return distinct(task)
    columns = tuple(item.column for item in task.arguments)
    table = Registers(f"registers({task.subject})", columns)
    return InTable(table, _summary, pl.lit(0, pl.Int64))


def _summary(table: Frame, by: Sequence[str]) -> Frame:
    ranks = [pl.col(name) for name in _RANKS]
    reached = pl.sum_horizontal((rank > 0).cast(pl.Int64) for rank in ranks)
    weight = pl.sum_horizontal(
        pl.when(rank > 0).then(0.5 ** rank.cast(pl.Float64)).otherwise(0.0) for rank in ranks
    )
    sums = [reached.sum().alias("_reached"), weight.sum().alias("_weight")]
    groups = group(table, by, sums)
    found = _estimate(groups["_reached"].to_numpy(), groups["_weight"].to_numpy())
    return groups.select(by).with_columns(pl.Series(RESULT, np.rint(found).astype(np.int64)))


def _estimate(reached: Numbers, weight: Numbers) -> Numbers:
    empty = 1.0 - reached / _REGISTERS
    estimate: Numbers = _REGISTERS**2 / (2 * np.log(2) * (weight + _REGISTERS * _sigma(empty)))
    return estimate


def _sigma(share: Numbers) -> Numbers:
    """What the registers that are still empty add."""
    power, factor, total = share.copy(), 1.0, share.copy()
    # The power is squared each time: for the largest share below one, 4095/4096, it is below
    # the precision of a number after 18 rounds.
    for _ in range(20):
        power = power * power
        total = total + power * factor
        factor *= 2
    return total


def _highest_bit(words: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, Any]:
    """The place of the highest bit that is set, from 0; one of bits 11 to 63 is.

    A number of 53 bits is exact as a float, whose exponent is the answer.
    """
    exponents = (words >> np.uint64(11)).astype(np.float64).view(np.uint64) >> np.uint64(52)
    return exponents.astype(np.int64) - 1023 + 11
