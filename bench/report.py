"""`python -m bench.report` writes docs/performance.md and its plots from bench/results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import fill

from bench.catalog import NAMES, RESULTS, ROOT
from bench.chart import draw, ratio_bars, value_bars
from bench.details import plots_of, sheets_of
from bench.machine import Machine
from bench.result import Measure, Result, load
from bench.sheet import markdown
from bench.table import HEAD, number, rows_of

_HEAD = """\
# Performance

The numbers of the log and of Spark on it, against the simplest thing that could do the same.
This page and its plots are written by `python -m bench.report` from the JSON files in
[bench/results](../bench/results), which hold every single run.

Measure again, on a machine with nothing else to do:

```
make bench                          # all of it, some hours with the peers, and this page
.venv/bin/python -m bench append    # one bench; then the page:
.venv/bin/python -m bench.report
.venv/bin/python -m bench nexmark --engines ours,spark --queries q0,q5 --events 1000000
.venv/bin/python -m bench --quick   # small sizes, to see that it runs; keeps nothing
```

How to read the tables. Both sides of a comparison run by turns in one go, after a warm-up that
does not count; a number is the median of the runs, with the least and the most in brackets.
**Ratio** is how many times better than the baseline Penstock is, pair by pair: 1 is equal, 0.5
is half as fast. A target is about the median: of the ratio where there is one, of the number
otherwise. Absolute numbers belong to the machine below; ratios travel better.
"""


def main(arguments: list[str]) -> int:
    """Write the page from the results that exist."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--docs", type=Path, default=ROOT / "docs")
    given = parser.parse_args(arguments)
    page = write(_results(given.results), given.docs)
    print(f"{page.name} is written")
    return 0


def write(results: list[Result], docs: Path) -> Path:
    """Write the page and its plots below a directory; give the page."""
    (docs / "img").mkdir(parents=True, exist_ok=True)
    sections = [_HEAD, _machines(results), _summary(results)]
    for result in results:
        plots = []
        for name, plot in _plots(result):
            (docs / "img" / name).write_text(plot, encoding="utf-8")
            plots.append(f"![{result.title}](img/{name})")
        sections.append(_section(result, plots))
    page = docs / "performance.md"
    page.write_text("\n".join(sections), encoding="utf-8")
    return page


def _results(folder: Path) -> list[Result]:
    return [load(path) for name in NAMES if (path := folder / f"{name}.json").exists()]


def _machines(results: list[Result]) -> str:
    machines: list[Machine] = []
    for result in results:
        if result.machine not in machines:
            machines.append(result.machine)
    return "".join(f"\n{_machine(machine)}\n" for machine in machines)


def _machine(machine: Machine) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in machine.packages.items())
    return fill(
        f"Measured on {machine.cores} cores ({machine.processor}), {machine.memory_gib} GiB,"
        f" {machine.system}; Python {machine.python}, {packages}.",
        100,
    )


def _summary(results: list[Result]) -> str:
    head = ("promise", "target", "measured", "met")
    rows = [
        (f"[{result.title}](#{_anchor(result)}): {measure.label}", *_judgement(measure))
        for result in results
        for measure in _worst(result)
    ]
    lines = "\n".join(markdown(head, rows))
    return f"\n## The targets\n\nOf each bench, the promise that is met least.\n\n{lines}\n"


def _worst(result: Result) -> list[Measure]:
    """For each target of a bench, the measure that comes out worst."""
    worst: dict[tuple[str, float, bool], Measure] = {}
    for measure in result.measures:
        if measure.target is None:
            continue
        key = (measure.target.bound, measure.target.limit, bool(measure.ratios))
        other = worst.get(key)
        sign = 1 if measure.target.bound == "at least" else -1
        if other is None or sign * measure.judged < sign * other.judged:
            worst[key] = measure
    return list(worst.values())


def _judgement(measure: Measure) -> tuple[str, str, str]:
    target = measure.target
    assert target is not None
    unit = "of the baseline" if measure.ratios else measure.unit
    return (
        f"{target.bound} {number(target.limit)} {unit}",
        number(measure.judged),
        "yes" if measure.met else "**no**",
    )


def _section(result: Result, plots: list[str]) -> str:
    lines = [f"\n## {result.title}\n", fill(result.method, 100), ""]
    if result.baseline:
        lines += [f"Baseline: {result.baseline}.", ""]
    if result.scale != "full":
        lines += [f"These are {result.scale} sizes: they only show that it runs.", ""]
    sizes = "; ".join(f"{name} {_size(value)}" for name, value in result.sizes.items())
    lines += [f"Sizes: {sizes}. `python -m bench {result.name}`", ""]
    lines += markdown(*_used_columns(rows_of(result)))
    for sheet in sheets_of(result):
        lines += ["", f"### {sheet.title}", "", *sheet.markdown]
    lines += ["", *plots]
    return "\n".join(lines).rstrip() + "\n"


def _used_columns(rows: list[tuple[str, ...]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    used = [place for place in range(len(HEAD)) if any(row[place] for row in rows)]
    return (
        tuple(HEAD[place] for place in used),
        [tuple(row[place] for place in used) for row in rows],
    )


def _plots(result: Result) -> Iterator[tuple[str, str]]:
    """Give a plot of the ratios, and one of the numbers in each unit without a baseline."""
    bars = ratio_bars(result.measures)
    if bars:
        limits = {m.target.limit for m in result.measures if m.ratios and m.target is not None}
        line = limits.pop() if len(limits) == 1 else 1.0
        title = f"{result.title}: ratio to the baseline"
        yield f"{result.name}.svg", draw(title, bars, line=line)
    units = {measure.unit: None for measure in result.measures if not measure.ratios}
    for place, unit in enumerate(units):
        found = value_bars(result.measures, unit)
        if len(found) > 1:
            title = f"{result.title}: {unit}"
            yield f"{result.name}-{place}.svg", draw(title, found)
    for place, plot in enumerate(plots_of(result)):
        yield f"{result.name}-engines-{place}.svg", plot


def _anchor(result: Result) -> str:
    kept = "".join(c for c in result.title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def _size(value: int | str) -> str:
    return f"{value:,}" if isinstance(value, int) else value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
