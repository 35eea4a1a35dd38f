from __future__ import annotations

import random

import pytest

from tests.house.survey import ROOT
from tests.order import LONG, group_of, long_first


def file_of(test: str) -> str:
    return test.partition("::")[0]


def is_long(test: str) -> bool:
    return bool(group_of(file_of(test)))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_each_worker_begins_with_its_part_of_the_long_ones(workers: int) -> None:
    files = [*LONG[:6], *(f"short/test_{number}.py" for number in range(30))]
    random.shuffle(files)
    tests = [f"{file}::test_{number}" for file in files for number in range(3)]
    found = long_first(tests, file_of=file_of, workers=workers)
    assert sorted(found) == sorted(tests)
    share = len(tests) // workers
    for worker in range(workers):
        assert all(map(is_long, found[worker * share :][: 18 // workers]))
    short = [test for test in tests if not is_long(test)]
    assert [test for test in found if not is_long(test)] == short


def test_one_worker_takes_all_of_a_folder() -> None:
    pages = [f"pages/test_{number}.py::test" for number in range(5)]
    others = [f"short/test_{number}.py::test" for number in range(40)]
    found = long_first(random.sample(pages + others, 45), file_of=file_of, workers=2)
    assert sorted(found[:5]) == pages


@pytest.mark.parametrize("number", range(4))
def test_few_tests_are_all_there(number: int) -> None:
    tests = [f"{file}::test" for file in LONG[:number]]
    assert sorted(long_first(tests, file_of=file_of, workers=2)) == sorted(tests)


def test_the_long_ones_are_there() -> None:
    assert [name for name in LONG if not (ROOT / "tests" / name).exists()] == []
