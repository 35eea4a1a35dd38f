"""A dead letter as JSON has it."""

from __future__ import annotations

from penstock.jobs.dead_letters import Letter
from penstock.text.byte_text import json_value


def letter_document(letter: Letter) -> dict[str, object]:
    """Give a letter as the object that `--json` prints; bytes are exact."""
    return {
        "partition": letter.partition,
        "offset": letter.offset,
        "reason": letter.reason,
        "error": letter.error,
        "step": letter.step,
        "site": letter.site,
        "traceback": letter.traceback,
        "row": letter.row,
        "time": letter.time,
        "source": letter.source._asdict(),
        "timestamp": letter.timestamp,
        "key": json_value(letter.key),
        "headers": [[name, json_value(value)] for name, value in letter.headers],
        "raw": json_value(letter.raw),
        "replayed": letter.replayed,
    }
