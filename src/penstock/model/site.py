"""Where in the user's program a step was written."""

from __future__ import annotations

import sys
from pathlib import Path

_HOUSE = str(Path(__file__).resolve().parents[1])


def user_site() -> str:
    """Give `file:line` of the nearest caller outside Penstock, or nothing."""
    frame = sys._getframe(1)  # noqa: SLF001
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_HOUSE, "<")):
            return f"{Path(name).name}:{frame.f_lineno}"
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return ""
