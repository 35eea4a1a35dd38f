from __future__ import annotations

from penstock.plan.rules.drop_identity_project import drop_identity_project
from tests.plan.programs import COLUMNS, a_stream, col, select


def test_a_projection_to_what_is_there_is_left_out() -> None:
    stream = a_stream()
    assert drop_identity_project(select(stream, *COLUMNS.names)) is stream


def test_another_order_another_name_or_fewer_columns_stay() -> None:
    for changed in (
        select(a_stream(), *reversed(COLUMNS.names)),
        select(a_stream(), *COLUMNS.names[:-1]),
        select(a_stream(), *COLUMNS.names[:-1], at=col("at"), more=col("n")),
        select(a_stream(), *COLUMNS.names[1:], user=col("user")),
    ):
        assert drop_identity_project(changed) is changed
