from __future__ import annotations

import pytest

from penstock.errors import RecordError
from penstock.log.rows import rows_of_bytes


def test_more_bytes_than_a_column_holds_are_refused_before_they_are_copied() -> None:
    one = bytes(1 << 20)
    with pytest.raises(RecordError, match=r"BATCH_TOO_LARGE.*2147483648 bytes"):
        rows_of_bytes([one] * 2048)
