from __future__ import annotations

from pathlib import Path

import pytest

from bench.machine import this_machine
from bench.measure import alternate, percentile
from bench.result import Measure, Result, Target, load, save


def a_measure(**changes: object) -> Measure:
    given = {"label": "x", "unit": "MB/s", "ours": (50.0, 90.0, 60.0), **changes}
    return Measure(**given)  # type: ignore[arg-type]  # a test says what it changes


def a_result(*measures: Measure) -> Result:
    return Result(
        name="append", title="Appending", method="By turns.", scale="full", sizes={"pairs": 3},
        measures=measures,
    )  # fmt: skip


def test_a_ratio_is_taken_pair_by_pair() -> None:
    measure = a_measure(baseline=(100.0, 100.0, 200.0))
    assert measure.ratios == (0.5, 0.9, 0.3)
    assert measure.judged == 0.5


def test_a_ratio_above_one_is_better_whatever_the_unit() -> None:
    milliseconds = a_measure(ours=(10.0,), baseline=(20.0,), lower_is_better=True)
    assert milliseconds.ratios == (2.0,)


@pytest.mark.parametrize(
    ("target", "met"),
    [
        (Target("at least", 60), True),
        (Target("at least", 61), False),
        (Target("at most", 60), True),
        (Target("at most", 59), False),
        (None, None),
    ],
)
def test_a_target_is_about_the_median(target: Target | None, met: bool | None) -> None:
    assert a_measure(target=target).met is met


def test_a_result_comes_back_as_it_was_saved(tmp_path: Path) -> None:
    result = a_result(a_measure(baseline=(1.0, 2.0, 3.0), target=Target("at least", 0.5)))
    assert load(save(result, tmp_path)) == result


def test_a_result_says_what_it_was_taken_on_but_not_where(tmp_path: Path) -> None:
    text = save(a_result(a_measure()), tmp_path).read_text()
    assert f'"cores": {this_machine().cores}' in text
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text


def test_two_sides_run_by_turns_and_the_first_of_each_does_not_count() -> None:
    order: list[str] = []

    def side(name: str, value: float) -> float:
        order.append(name)
        return value

    pairs = alternate(lambda: side("a", 1.0), lambda: side("b", 2.0), pairs=2)
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert pairs == ((1.0, 1.0), (2.0, 2.0))


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.99)) == (51.0, 100.0)
