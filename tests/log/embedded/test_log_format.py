"""The worked example of docs/log-format.md is what the log writes."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.clock import ManualClock
from penstock.log.embedded.disk import DiskStorage
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.rows import rows_of_bytes

PAGE = Path(__file__).resolve().parents[3] / "docs" / "log-format.md"
SEGMENT = "topics/avg/0/00000000000000000000.seg"


def _hexdump(data: bytes) -> str:
    lines = []
    for start in range(0, len(data), 16):
        part = data[start : start + 16]
        text = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in part)
        lines.append(f"{start:04x}  {part[:8].hex(' ')}  {part[8:].hex(' ')}  |{text}|")
    return "\n".join(lines)


def test_the_worked_hexdump_is_what_the_log_writes(tmp_path: Path) -> None:
    storage = DiskStorage(tmp_path)
    log = EmbeddedLog(storage, ManualClock(1_700_000_000_000))
    log.create_topic("avg")
    rows = rows_of_bytes(
        [b"21.5", b"22.0"],
        keys=[b"hall", b"roof"],
        timestamps=[1_700_000_000_000, 1_700_000_000_250],
    )
    log.append("avg", 0, rows)
    found = re.search(r"```hexdump\n(.*?)\n```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    assert found.group(1) == _hexdump(storage.read(SEGMENT))
