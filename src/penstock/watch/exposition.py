"""Measurements as text, in Prometheus's text format 0.0.4: one line a sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from penstock.watch.sample import Family, Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(families: Iterable[Family]) -> str:
    """Give families as text; one without samples is left out."""
    return "".join(f"{line}\n" for family in families if family.samples for line in _lines(family))


def _lines(family: Family) -> Iterator[str]:
    told = family.help.replace("\\", r"\\").replace("\n", r"\n")
    yield f"# HELP {family.name} {told}"
    yield f"# TYPE {family.name} {family.kind}"
    for sample in family.samples:
        yield f"{family.name}{_labels(sample)} {number_text(sample.value)}"


def _labels(sample: Sample) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
    text = ",".join(pairs)
    return f"{{{text}}}" if text else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def number_text(value: float) -> str:
    """Give a number as the format has it: whole ones without a point, and words for no number."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
