"""What a bench found: every run's number, the ratio of pairs, and the target it has to meet."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal, NamedTuple, TypeAlias

from bench.machine import Machine, this_machine

Bound: TypeAlias = Literal["at least", "at most"]


class Spread(NamedTuple):
    """The middle of several runs, and how far they lie apart."""

    median: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Target:
    """What was promised: of the ratio where there is a baseline, of the number otherwise."""

    bound: Bound
    limit: float

    def met_by(self, value: float) -> bool:
        """Whether a number keeps the promise."""
        return value >= self.limit if self.bound == "at least" else value <= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One quantity, run by run; where there is a baseline the two ran by turns, in pairs."""

    label: str
    unit: str
    ours: tuple[float, ...]
    baseline: tuple[float, ...] = ()
    lower_is_better: bool = False
    target: Target | None = None

    @property
    def ratios(self) -> tuple[float, ...]:
        """Pair by pair, how many times better than the baseline; 1 is equal."""
        pairs = zip(self.ours, self.baseline, strict=False)
        if self.lower_is_better:
            return tuple(theirs / ours for ours, theirs in pairs)
        return tuple(ours / theirs for ours, theirs in pairs)

    @property
    def judged(self) -> float:
        """The number that the target is about."""
        return spread(self.ratios or self.ours).median

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None where nothing was promised."""
        return None if self.target is None else self.target.met_by(self.judged)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One bench: what was asked, how it was measured, what came out, and where."""

    name: str
    title: str
    method: str
    baseline: str = ""
    scale: str
    sizes: Mapping[str, int | str]
    measures: tuple[Measure, ...]
    details: Mapping[str, Any] = field(default_factory=dict)
    """What one bench keeps beside its measures, and only it knows how to read."""
    machine: Machine = field(default_factory=this_machine)


def spread(values: tuple[float, ...]) -> Spread:
    """The median, the least and the most of some numbers."""
    return Spread(median(values), min(values), max(values))


def save(result: Result, folder: Path) -> Path:
    """Write a result as JSON, with the raw numbers and what follows from them."""
    folder.mkdir(parents=True, exist_ok=True)
    content = asdict(result)
    for written, measure in zip(content["measures"], result.measures, strict=True):
        written["median"] = spread(measure.ours).median
        written["ratios"] = measure.ratios
        written["met"] = measure.met
    path = folder / f"{result.name}.json"
    path.write_text(json.dumps(_rounded(content), indent=1) + "\n", encoding="utf-8")
    return path


def load(path: Path) -> Result:
    """Read a result; what follows from the raw numbers is computed anew."""
    content = json.loads(path.read_text(encoding="utf-8"))
    measures = tuple(_measure(item) for item in content.pop("measures"))
    machine = Machine(**content.pop("machine"))
    return Result(**content, measures=measures, machine=machine)


def _measure(content: dict[str, Any]) -> Measure:
    target = content["target"]
    return Measure(
        label=content["label"],
        unit=content["unit"],
        ours=tuple(content["ours"]),
        baseline=tuple(content["baseline"]),
        lower_is_better=content["lower_is_better"],
        target=None if target is None else Target(**target),
    )


def _rounded(content: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Keep six digits of each number: more is noise, and makes every diff unreadable."""
    match content:
        case float():
            return float(f"{content:.6g}")
        case dict():
            return {name: _rounded(item) for name, item in content.items()}
        case list() | tuple():
            return [_rounded(item) for item in content]
        case _:
            return content
