from __future__ import annotations

from examples.generate import PAGE_VIEWS, PageViews, paced


def test_the_same_seed_makes_the_same_views() -> None:
    first, second = PageViews(seed=3), PageViews(seed=3)
    for _ in range(3):
        assert first.rows(50, at=1000) == second.rows(50, at=1000)
    assert PageViews(seed=4).rows(50, at=1000) != PageViews(seed=3).rows(50, at=1000)


def test_views_fit_their_schema_and_have_their_user_as_key() -> None:
    rows = PageViews().rows(100, at=1_700_000_000_123)
    own = rows.select(PAGE_VIEWS.names)
    assert own.schema.types == PAGE_VIEWS.types
    assert rows["_key"].cast("string") == rows["userid"]


def test_views_are_paced_whatever_the_pauses_take() -> None:
    moments = iter([0.0, 0.1, 0.35, 0.35, 1.0])
    pauses = iter([False, False, False, False, True])
    due = paced(100, pause=lambda _: next(pauses), clock=lambda: next(moments))
    assert list(due) == [10, 25, 65]
