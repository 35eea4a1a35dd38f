from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.clock import ManualClock
from penstock.errors import ModelError
from penstock.inline.topology.grouping import (
    Chooser,
    FieldsChooser,
    LoadAwareChooser,
    PartialKeyChooser,
    ShuffleChooser,
    chooser,
)
from penstock.inline.topology.java_hash import JavaLong, JavaRandom, java_hash
from penstock.model.topology import ByFields, Custom, Grouping, LocalOrShuffle, ToAny, ToLowest
from penstock.model.topology_work import Output, TaskContext

TASKS = (4, 5, 6, 7)
CONTEXT = TaskContext("s", 1, 0, {"s": (1,)}, frozenset({1, 5, 7}), ManualClock())
WORD = Output("default", ("number", "word"))

keys = st.one_of(st.text(), st.integers(), st.floats(), st.binary(), st.booleans(), st.none())


def made(grouping: Grouping) -> Chooser:
    return chooser(grouping, TASKS, WORD, CONTEXT, random.Random(1))


@given(st.lists(keys, min_size=1, max_size=3))
def test_the_same_values_go_to_the_same_task(values: list[object]) -> None:
    one = FieldsChooser(TASKS, range(len(values)))
    assert one.choose(values) == FieldsChooser(TASKS[::-1], range(len(values))).choose(values)
    assert one.choose(values)[0] in TASKS


@given(keys)
def test_a_hash_is_a_signed_number_of_32_bits(value: object) -> None:
    assert -(2**31) <= java_hash(value) < 2**31


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Aa", "BB"),  # the best known collision of Java
        (b"\xff", [-1]),  # bytes are signed, and hashed by content
        (float("nan"), -float("nan")),
        ((1, "x"), [1, "x"]),
        (JavaLong(7), 7),
    ],
)
def test_values_that_are_equal_to_java_have_one_hash(value: object, expected: object) -> None:
    assert java_hash(value) == java_hash(expected)


def test_numbers_hash_by_their_width_in_java() -> None:
    assert java_hash(-1) == -1
    assert java_hash(JavaLong(-1)) == 0
    assert java_hash(2**64) == 31 * 31
    assert java_hash(-(2**64)) == -31 * 31


def test_a_value_without_a_lasting_hash_is_refused() -> None:
    with pytest.raises(ModelError) as raised:
        java_hash(object())
    assert raised.value.code == "GROUPING_VALUE"


def test_random_numbers_stay_below_their_bound() -> None:
    chance = JavaRandom(42)
    for bound in (1, 2, 3, 8, 1000, 2**30 + 1):
        assert all(0 <= chance.below(bound) < bound for _ in range(200))


def test_fields_are_found_by_name_and_no_fields_mean_one_task() -> None:
    by_word = made(ByFields(("word",)))
    assert by_word.choose((1, "a")) == by_word.choose((2, "a"))
    assert made(ByFields(())).choose((1, "a")) == made(ToLowest()).choose((1, "a")) == (4,)


def test_local_or_shuffle_stays_near_where_it_can() -> None:
    near = made(LocalOrShuffle())
    assert Counter(near.choose(())[0] for _ in range(10)) == {5: 5, 7: 5}
    far = chooser(LocalOrShuffle(), (8, 9), WORD, CONTEXT, random.Random(1))
    assert Counter(far.choose(())[0] for _ in range(10)) == {8: 5, 9: 5}


def test_any_task_gets_its_part_on_average() -> None:
    anywhere = made(ToAny())
    counts = Counter(anywhere.choose(())[0] for _ in range(4000))
    assert all(800 < counts[task] < 1200 for task in TASKS)


def test_a_key_has_two_tasks_and_fills_them_evenly() -> None:
    partial = PartialKeyChooser(TASKS)
    counts = Counter(partial.choose(("hot",))[0] for _ in range(100))
    assert sorted(counts.values()) == [50, 50]
    assert PartialKeyChooser((3,)).choose(("hot",)) == (3,)


def test_a_loaded_task_gets_less_until_it_is_as_free_as_the_others() -> None:
    aware = LoadAwareChooser((1, 2), random.Random(1))
    for _ in range(10):
        aware.refresh({1: 0.9, 2: 0.1})
    assert aware.shares == {1: 0.0, 2: 1.0}
    for _ in range(100):
        aware.refresh({1: 0.1, 2: 0.1})
    assert aware.shares == {1: 0.5, 2: 0.5}


def test_a_shuffle_begins_anywhere() -> None:
    firsts = {ShuffleChooser(TASKS, random.Random(n)).choose(())[0] for n in range(40)}
    assert firsts == set(TASKS)


class Wrong:
    """A grouping of the user's own that chooses a task of somebody else."""

    def prepare(self, _context: TaskContext, _stream: str, tasks: Sequence[int]) -> None:
        self.tasks = tasks

    def choose(self, _values: Sequence[object]) -> Sequence[int]:
        return [max(self.tasks) + 1]


def test_a_rule_of_ones_own_chooses_from_the_tasks_that_take_the_stream() -> None:
    with pytest.raises(ModelError, match="Wrong chose task 8") as raised:
        made(Custom(Wrong())).choose(())
    assert raised.value.code == "GROUPING_TASK"
