"""Warnings about programs that are allowed, but may not do what was meant."""

from __future__ import annotations

import warnings
from datetime import timedelta

from penstock.model.aggregate import Aggregate
from penstock.model.hazard import may_lose_data
from penstock.model.site import user_frame


class HazardWarning(UserWarning):
    """A program may lose rows that it could keep."""


def warn_of_loss(step: Aggregate) -> None:
    """Warn where a trigger may be finished while rows still come."""
    late = step.refinement.keep_late or timedelta(0)
    if step.trigger is None or not may_lose_data(step.trigger, keep_late=late, window=step.window):
        return
    text = (
        f"[TRIGGER_MAY_FINISH] a trigger may be finished while rows still come, which are then "
        f"late rows ({step.site})\nRepeat it, give when_closed a late part, or keep no late rows."
    )
    frame = user_frame()
    if frame is None:
        warnings.warn(text, HazardWarning, stacklevel=2)
        return
    # At the user's own line, which is where Python's filters look.
    warnings.warn_explicit(text, HazardWarning, frame.f_code.co_filename, frame.f_lineno)
