from __future__ import annotations

from collections import Counter

from examples.demo_views import Sent, Visitors, paced

NOON = 1_793_966_400_000


def fields(view: Sent) -> list[bytes]:
    return view.value.split(b",")


def test_the_same_seed_makes_the_same_views() -> None:
    first, second = Visitors(seed=3), Visitors(seed=3)
    assert first.views(50, at=NOON) == second.views(50, at=NOON)
    assert Visitors(seed=4).views(50, at=NOON) != Visitors(seed=3).views(50, at=NOON)


def test_views_are_skewed_out_of_order_late_and_some_of_them_damaged() -> None:
    views = Visitors(seed=1).views(4_000, at=NOON + 30_000)
    good = [fields(view) for view in views if len(fields(view)) == 3 and fields(view)[0].isdigit()]
    assert 0 < len(views) - len(good) < 60
    behind = [NOON + 30_000 - int(at) for at, _, _ in good]
    assert sum(0 < delay <= 5_000 for delay in behind) > 3_500
    assert any(60_000 <= delay <= 200_000 for delay in behind)
    assert any(delay >= 900_000 for delay in behind)
    people = Counter(user for _, user, _ in good).most_common()
    assert people[0][0] == b"User_1"
    assert people[0][1] > 4 * people[-1][1]


def test_a_page_fails_for_a_while_in_every_minute() -> None:
    visitors = Visitors(seed=1)
    broken = Counter(view.key for view in visitors.views(500, at=NOON) if view.status == b"500")
    page, failures = broken.most_common(1)[0]
    assert failures > 20
    whole = [view for view in visitors.views(500, at=NOON + 30_000) if view.status == b"500"]
    assert len(whole) < 10
    assert page.startswith(b"Page_1")


def test_users_have_regions_and_some_move() -> None:
    visitors = Visitors(seed=2)
    assert [user.key for user in visitors.users(at=NOON)][:2] == [b"User_1", b"User_2"]
    assert b'"regionid": "Region_' in visitors.moved(at=NOON).value


def test_views_are_paced_whatever_the_pauses_take() -> None:
    moments = iter([0.0, 0.1, 0.35, 0.35, 1.0])
    pauses = iter([False, False, False, False, True])
    due = paced(100, pause=lambda _: next(pauses), clock=lambda: next(moments))
    assert list(due) == [10, 25, 65]
