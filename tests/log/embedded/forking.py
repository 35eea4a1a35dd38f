"""Running a check in a forked child."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable


def holds_in_child(check: Callable[[], bool]) -> bool:
    """Whether a check gives True in a child forked from this process."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if check() else 1
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
