"""How much memory a bench's processes hold, and whether it grows."""

from __future__ import annotations

import psutil

from bench.result import Measure, Target
from bench.workload import MIB


def flat_memory(name: str, samples: list[float], most: float) -> list[Measure]:
    """Give the most that was held, and the last third to the one before: so many times at most."""
    third = max(1, len(samples) // 3)
    before, last = max(samples[third : 2 * third] or samples), max(samples[-third:])
    return [
        Measure(label=f"{name}, the most", unit="MiB", ours=(max(samples),), lower_is_better=True),
        Measure(
            label=f"{name}, last third to the one before",
            unit="times",
            ours=(last / before,),
            lower_is_better=True,
            target=Target("at most", most),
        ),
    ]


def held_memory() -> tuple[float, float]:
    """Give the MiB that this process and its children hold: those of Python, and Java."""
    root = psutil.Process()
    python, java = 0.0, 0.0
    for process in (root, *root.children(recursive=True)):
        try:
            held = process.memory_full_info().pss / MIB
            if "java" in process.name():
                java += held
            else:
                python += held
        except psutil.NoSuchProcess:
            continue
    return python, java
