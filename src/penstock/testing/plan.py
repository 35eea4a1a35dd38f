"""What is to go wrong, and at which call: a plan made by hand or from a seed."""

from __future__ import annotations

import errno
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Literal, TypeAlias

Moment: TypeAlias = Literal["before", "within", "after"]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call fails with an error of the system; a lasting one stays until `heal`."""

    code: int = errno.EIO
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Tear:
    """The first `kept` bytes of a write arrive, then it fails; other calls just fail."""

    kept: int
    code: int = errno.EIO


@dataclass(frozen=True, slots=True)
class Kill:
    """The process dies by SIGKILL: before the call, with half a write done, or after it.

    Calls that are not writes have no half: `within` is `before` for them.
    """

    moment: Moment = "before"


@dataclass(frozen=True, slots=True)
class Delay:
    """The call takes longer, as on a busy disk."""

    duration: timedelta


Fault: TypeAlias = Refuse | Tear | Kill | Delay

DISK_FULL = Refuse(errno.ENOSPC, lasting=True)
OVER_QUOTA = Refuse(errno.EDQUOT, lasting=True)
BROKEN_ONCE = Refuse(errno.EIO)


@dataclass(frozen=True, slots=True)
class FaultPlan:
    """Which fault strikes at which changing call; calls are counted from 1.

    Equal plans on equal programs strike at the same place, so a failure is replayed by
    running again with the same plan or the same seed.
    """

    faults: Mapping[int, Fault] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def from_seed(
        cls,
        seed: int,
        *,
        faults: Sequence[Fault] = (BROKEN_ONCE, Tear(1)),
        chance: float = 0.01,
        calls: int = 10_000,
    ) -> FaultPlan:
        """Strike each of the first `calls` calls with a chance, by one of the faults."""
        dice = random.Random(seed)
        struck = {n: dice.choice(faults) for n in range(1, calls + 1) if dice.random() < chance}
        return cls(MappingProxyType(struck))
