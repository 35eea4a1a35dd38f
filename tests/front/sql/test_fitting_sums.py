from __future__ import annotations

import pytest

from penstock.errors import RunError
from tests.front.sql.script import Script

PRICES = """
CREATE STREAM prices (k STRING KEY, price DECIMAL(3, 1))
  WITH (KAFKA_TOPIC='prices', VALUE_FORMAT='JSON');
CREATE TABLE total AS SELECT k, SUM(price) AS price FROM prices GROUP BY k;
"""


def test_a_sum_that_its_type_cannot_hold_ends_the_query() -> None:
    script = Script(PRICES)
    assert script.push("prices", "a", {"price": 60.5})[0][1] == {"PRICE": 60.5}
    with pytest.raises(RunError) as caught:
        script.push("prices", "a", {"price": 50.0})
    assert caught.value.code == "EXPECTATION_FAILED"
    assert "decimal(3, 1)" in caught.value.fact
