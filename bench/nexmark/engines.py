"""Which engines take part, and how each is started."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.nexmark.environments import python_of
from bench.nexmark.harness import EngineCommand

OURS = "ours"
SPARK = "spark"
LABELS = {
    OURS: "Penstock",
    SPARK: "PySpark",
    "flink": "PyFlink",
    "spark-nowhere": "PySpark, results nowhere",
    "flink-nowhere": "PyFlink, results nowhere",
    "pathway": "Pathway",
    "bytewax": "Bytewax",
    "bytewax-by-hand": "Bytewax, Arrow by hand",
    "quix": "Quix Streams",
}
NAMES = tuple(LABELS)
NOWHERE = "-nowhere"
"""How the names of engines end that give their results to a sink that drops them."""
_PEERS = Path(__file__).with_name("peers")


def commands_of(names: Sequence[str]) -> Iterator[EngineCommand]:
    """Give how to start the engines named; one that cannot be had is left out with a word."""
    for name in names:
        if name == OURS:
            yield EngineCommand(name, (sys.executable, "-m", "bench.nexmark.ours"))
            continue
        peer, _, way = name.partition("-")
        script = _PEERS / f"{peer}.py"
        if not script.exists():
            print(f"{LABELS[name]} is left out: there is no {script.name}", file=sys.stderr)
        elif (python := python_of(peer)) is not None:
            told = (way,) if way else ()
            yield EngineCommand(name, (str(python), str(script), *told))
