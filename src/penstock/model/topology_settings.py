"""The settings of a topology."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from penstock.errors import ModelError
from penstock.model.duration import Duration, duration_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """How a topology runs.

    `message_timeout` is how long a tuple and all that comes of it may take before its spout is
    told that it failed. A spout task has at most `max_spout_pending` tuples under way (None: any
    number), a task at most about `queue_size` waiting. An error in a bolt fails the tuple, or
    stops the run (`on_error`). Without `tracking` every tuple counts as done when emitted.
    `workers` divides the tasks into groups that are near one another; `threads` gives each
    executor a thread of its own. `options` is for the spouts and bolts.
    """

    workers: int = 1
    message_timeout: Duration = "30s"
    max_spout_pending: int | None = 1000
    queue_size: int = 1024
    on_error: Literal["fail", "stop"] = "fail"
    tracking: bool = True
    threads: bool = False
    options: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        counts = {
            "workers": self.workers,
            "message_timeout": self.timeout // timedelta(milliseconds=1),
            "max_spout_pending": 1 if self.max_spout_pending is None else self.max_spout_pending,
            "queue_size": self.queue_size,
        }
        for name, count in counts.items():
            if count < 1:
                raise ModelError(
                    "TOPOLOGY_SETTING",
                    f"{name} of a topology is {getattr(self, name)!r}, which is less than can be",
                    hint="Give it at least 1, or leave it out.",
                )

    @property
    def timeout(self) -> timedelta:
        """The message timeout as a time."""
        return duration_of(self.message_timeout)
