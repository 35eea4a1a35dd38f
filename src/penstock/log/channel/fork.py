"""What happens to an open channel in a forked child: it belongs to the parent alone."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable
from typing import TypeVar

Owner = TypeVar("Owner")


def abandon_in_child(owner: Owner, abandon: Callable[[Owner], None]) -> None:
    """Have `abandon` called for the owner in every child forked while the owner lives.

    A child shares the parent's sockets and locks but has not its threads: it would keep a
    dead receiver's address alive, and two processes would write into one stream of frames.
    """
    reference = weakref.ref(owner)

    def in_child() -> None:
        still_there = reference()
        if still_there is not None:
            abandon(still_there)

    os.register_at_fork(after_in_child=in_child)
