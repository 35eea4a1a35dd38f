"""What somebody who asks a server may do."""

from __future__ import annotations

from enum import IntEnum


class Role(IntEnum):
    """Each may do what those before it may."""

    READER = 1
    """Look at everything."""
    WRITER = 2
    """Write records, run statements, and see to jobs."""
    ADMIN = 3
    """Bring in code: jobs of Python programs, functions; and give out tokens."""
