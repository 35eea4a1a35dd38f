"""Several programs over the same streams as one, which reads them once.

Operators, chains and outputs keep their ids behind the name of their program, so that the state of
each can be told from that of the others, and taken out again. Nothing else is shared: each program
gives the rows that it gives alone, since it sees the same rows under the same watermarks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

from penstock.model.expr import Column
from penstock.model.member import member_of, of_member, own_id
from penstock.model.physical import Chain, Keyed, Output, Physical, Scan
from penstock.model.stateless import Named, Project


def may_merge(one: Physical, other: Physical) -> bool:
    """Whether two programs can be run as one: equal settings, and the same streams, all of them.

    With a stream that only one of them reads, its watermark would hold back the other.
    """
    if one.settings != other.settings or len(one.scans) != len(other.scans):
        return False
    return all(_scan_like(scan, other.scans) is not None for scan in one.scans)


def may_share(program: Physical) -> bool:
    """Whether a program can be one of several: tables in stores know their writer by its job."""
    return all(output.sink.store is None for output in program.outputs)


def merge(name: str, programs: Mapping[str, Physical]) -> Physical:
    """Give the program that does what all do; they come in the order of the mapping."""
    first = next(iter(programs.values()))
    levels = zip_longest(*(_levels(member, one) for member, one in programs.items()), fillvalue=())
    return Physical(
        name=name,
        scans=tuple(_merged_scan(scan, programs) for scan in first.scans),
        levels=tuple(tuple(keyed for part in level for keyed in part) for level in levels),
        outputs=tuple(
            Output(of_member(member, output.id), output.sink)
            for member, one in programs.items()
            for output in one.outputs
        ),
        settings=first.settings,
    )


def part_of(merged: Physical, member: str) -> Physical:
    """Give the program of one member, as it was."""
    levels = [
        tuple(_own_keyed(keyed) for keyed in level if member_of(keyed.id) == member)
        for level in merged.levels
    ]
    return Physical(
        name=member,
        scans=tuple(
            replace(scan, chains=_own_chains(scan.chains, member)) for scan in merged.scans
        ),
        levels=tuple(level for level in levels if level),
        outputs=tuple(
            Output(own_id(output.id), output.sink)
            for output in merged.outputs
            if member_of(output.id) == member
        ),
        settings=merged.settings,
    )


def members(merged: Physical) -> tuple[str, ...]:
    """Give the names of the programs that are run as one; none where it is a program alone."""
    names = (member_of(output.id) for output in merged.outputs)
    return tuple(dict.fromkeys(name for name in names if name))


def _levels(member: str, program: Physical) -> tuple[tuple[Keyed, ...], ...]:
    return tuple(
        tuple(
            replace(
                keyed,
                id=of_member(member, keyed.id),
                chains=tuple(_renamed(member, chain) for chain in keyed.chains),
            )
            for keyed in level
        )
        for level in program.levels
    )


def _merged_scan(scan: Scan, programs: Mapping[str, Physical]) -> Scan:
    found = {member: _scan_like(scan, one.scans) for member, one in programs.items()}
    same = {member: one for member, one in found.items() if one is not None}
    needed = {name for one in same.values() for name in one.columns}
    columns = tuple(name for name in scan.stream.columns.names if name in needed)
    chains = [
        _renamed(member, _narrowed(chain, one, columns))
        for member, one in same.items()
        for chain in one.chains
    ]
    return replace(scan, chains=tuple(chains), columns=columns)


def _narrowed(chain: Chain, scan: Scan, columns: Sequence[str]) -> Chain:
    """Let a chain begin with the columns that its own scan gave it."""
    if scan.columns == tuple(columns):
        return chain
    narrow = Project(scan.stream, tuple(Named(name, Column(name)) for name in scan.columns))
    return replace(chain, steps=(narrow, *chain.steps))


def _renamed(member: str, chain: Chain) -> Chain:
    return replace(chain, id=of_member(member, chain.id), target=of_member(member, chain.target))


def _own_chains(chains: Sequence[Chain], member: str) -> tuple[Chain, ...]:
    return tuple(
        replace(chain, id=own_id(chain.id), target=own_id(chain.target))
        for chain in chains
        if member_of(chain.target) == member
    )


def _own_keyed(keyed: Keyed) -> Keyed:
    chains = _own_chains(keyed.chains, member_of(keyed.id))
    return replace(keyed, id=own_id(keyed.id), chains=chains)


def _scan_like(scan: Scan, others: Sequence[Scan]) -> Scan | None:
    """Give the scan of the same stream; a program has one of each."""
    return next((other for other in others if other.stream == scan.stream), None)
