from __future__ import annotations

from penstock.testing.faults import BROKEN_ONCE, DISK_FULL, FaultPlan, Tear


def test_the_same_seed_gives_the_same_plan() -> None:
    assert FaultPlan.from_seed(7) == FaultPlan.from_seed(7)
    assert FaultPlan.from_seed(7) != FaultPlan.from_seed(8)


def test_faults_come_about_as_often_as_asked_and_in_every_kind() -> None:
    plan = FaultPlan.from_seed(1, faults=[BROKEN_ONCE, DISK_FULL, Tear(3)], chance=0.1, calls=1000)
    assert 60 < len(plan.faults) < 140
    assert set(plan.faults.values()) == {BROKEN_ONCE, DISK_FULL, Tear(3)}
    assert min(plan.faults) >= 1
    assert max(plan.faults) <= 1000
