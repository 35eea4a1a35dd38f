from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from penstock.inline.topology.acker import Acker, Settled, Wheel


class Forest:
    """Trees that grow and are acked by chance, with what is open of each written down."""

    def __init__(self, roots: int, chance: random.Random) -> None:
        self.chance = chance
        self.acker = Acker()
        self.ended: dict[int, str] = {}
        self.open: list[dict[int, int]] = []
        self.roots = [self.edge() for _ in range(roots)]
        for number, root in enumerate(self.roots):
            edges = [self.edge() for _ in range(chance.randint(1, 3))]
            self.open += [{root: edge} for edge in edges]
            self.note(self.acker.begin(root, xor(edges), number))

    def edge(self) -> int:
        return self.chance.getrandbits(64) or 1

    def note(self, settled: Settled | None) -> None:
        if settled is not None:
            assert settled.root not in self.ended
            self.ended[settled.root] = settled.result
            assert self.roots[settled.owner] == settled.root  # type: ignore[call-overload]

    def work(self, children: int, others: int) -> None:
        """Take one tuple, with others as anchors; emit children; ack them all in any order."""
        self.chance.shuffle(self.open)
        anchors = [self.open.pop() for _ in range(min(1 + others, len(self.open)))]
        spawned = [0 for _ in anchors]
        for _ in range(children):
            child: dict[int, int] = {}
            for place, anchor in enumerate(anchors):
                edge = self.edge()
                spawned[place] ^= edge
                for root in anchor:
                    child[root] = child.get(root, 0) ^ edge
            self.open.append(child)
        order = list(zip(anchors, spawned, strict=True))
        self.chance.shuffle(order)
        for anchor, new in order:
            for root, edge in anchor.items():
                self.note(self.acker.ack(root, edge ^ new))
        self.check()

    def check(self) -> None:
        waiting = {root for edges in self.open for root in edges}
        assert {root for root in self.roots if root not in self.ended} == waiting


def xor(edges: list[int]) -> int:
    total = 0
    for edge in edges:
        total ^= edge
    return total


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 40))
def test_a_tree_is_acked_exactly_when_nothing_of_it_is_open(seed: int, roots: int, n: int) -> None:
    chance = random.Random(seed)
    forest = Forest(roots, chance)
    for _ in range(n):
        if forest.open:
            forest.work(chance.randint(0, 3), chance.randint(0, 2))
    while forest.open:
        forest.work(0, 0)
    assert forest.ended == dict.fromkeys(forest.roots, "acked")
    assert len(forest.acker) == 0


@given(st.permutations(list(range(6))))
def test_acks_may_come_in_any_order_and_before_the_beginning(order: list[int]) -> None:
    # Said in this tree: begin (edges a, b), a acked with child c, b, and c with two, d and e.
    a, b, c, d, e = (1 << n for n in range(5))
    acker = Acker()
    acks = (a ^ c, b, c ^ d ^ e, d, e)
    answers = [
        acker.ack(7, acks[place]) if place < 5 else acker.begin(7, a ^ b, "mine") for place in order
    ]
    assert answers[:-1] == [None] * 5
    assert answers[-1] == Settled(7, "mine", "acked")


def test_a_failure_ends_a_tree_at_once_and_only_once() -> None:
    acker = Acker()
    acker.begin(1, 0b11, "mine")
    assert acker.fail(1) == Settled(1, "mine", "failed")
    assert acker.ack(1, 0b01) is None
    assert acker.ack(1, 0b10) is None
    assert acker.fail(1) is None
    assert [acker.turn() for _ in range(3)] == [[], [], []]
    assert len(acker) == 0


def test_a_failure_that_comes_before_the_beginning_is_not_forgotten() -> None:
    acker = Acker()
    assert acker.fail(1) is None
    assert acker.begin(1, 5, "mine") == Settled(1, "mine", "failed")


def test_a_failure_of_one_root_leaves_the_other_of_the_same_tuple_alone() -> None:
    acker = Acker()
    acker.begin(1, 5, "first")
    acker.begin(2, 5, "second")
    assert acker.fail(1) == Settled(1, "first", "failed")
    assert acker.ack(2, 5) == Settled(2, "second", "acked")


def test_a_tuple_that_nobody_takes_is_done_at_once() -> None:
    assert Acker().begin(1, 0, "mine") == Settled(1, "mine", "acked")


def test_a_tree_ends_with_the_third_turn_and_acks_give_it_no_more() -> None:
    acker = Acker()
    acker.begin(1, 0b11, "mine")
    assert acker.turn() == []
    acker.ack(1, 0b01)
    assert acker.turn() == []
    assert acker.turn() == [Settled(1, "mine", "timed out")]
    assert acker.ack(1, 0b10) is None


def test_a_tree_that_is_touched_has_all_its_time_again() -> None:
    acker = Acker()
    acker.begin(1, 1, "mine")
    acker.turn()
    acker.turn()
    acker.touch(1)
    acker.touch(9)
    assert [acker.turn(), acker.turn()] == [[], []]
    assert len(acker.turn()) == 1


def test_a_tree_takes_one_entry_whatever_its_size() -> None:
    acker = Acker()
    acker.begin(1, 1, "mine")
    edge = 1
    for step in range(2, 10_000):
        assert acker.ack(1, edge ^ step) is None
        edge = step
    assert len(acker) == 1
    assert acker.ack(1, edge) is not None


@given(st.lists(st.sampled_from(["turn", *"abc"]), max_size=30), st.integers(2, 5))
def test_an_entry_of_a_wheel_leaves_with_the_turn_of_its_bucket(
    steps: list[str], buckets: int
) -> None:
    wheel: Wheel[str, int] = Wheel(buckets)
    ages: dict[str, int] = {}
    for step in steps:
        if step == "turn":
            ages = {key: age + 1 for key, age in ages.items()}
            gone = {key for key, age in ages.items() if age == buckets}
            assert set(wheel.turn()) == gone
            ages = {key: age for key, age in ages.items() if key not in gone}
        else:
            ages[step] = 0
            wheel.put(step, 1)
        assert len(wheel) == len(ages)
        assert all(wheel.get(key) == (1 if key in ages else None) for key in "abc")
