"""SET 'penstock.emit': whether every row gives its update, or every batch those of its keys."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import SqlError, did_you_mean
from penstock.front.sql.emitting import EACH_BATCH
from penstock.front.sql.source_text import SourceText
from penstock.front.sql.tree import Span
from penstock.model.trigger import EACH_ROW, Trigger

SETTING = "penstock.emit"
"""What says how often a query without a trigger gives results."""
BATCH, RECORD = "batch", "record"
_TRIGGERS: Mapping[str, Trigger] = {BATCH: EACH_BATCH, RECORD: EACH_ROW}


def trigger_by_setting(setting: str, text: SourceText, place: Span) -> Trigger:
    """Give the trigger of a setting; where it is not set a batch gives one update a key."""
    chosen = setting.lower() or BATCH
    if chosen not in _TRIGGERS:
        raise SqlError(
            "SQL_PROPERTY",
            text.shown(f"'{SETTING}' is '{setting}'", place),
            hint=did_you_mean(chosen, _TRIGGERS)
            or "Set it to 'batch', or to 'record' for an update with every row.",
        )
    return _TRIGGERS[chosen]
