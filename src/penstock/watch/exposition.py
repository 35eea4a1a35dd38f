"""Measurements as text, in Prometheus's text format 0.0.4: one line a sample."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import cast

from penstock.watch.sample import Family, Kind, Sample

_SAMPLE = re.compile(r"(\w+)(?:\{(.*)\})? (\S+)")
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
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


def families_of(text: str) -> list[Family]:
    """Read what `exposition` wrote."""
    helps: dict[str, str] = {}
    kinds: dict[str, str] = {}
    samples: dict[str, list[Sample]] = {}
    for line in text.splitlines():
        words = line.split(" ", 3)
        if line.startswith("# HELP "):
            helps[words[2]] = words[3] if words[3:] else ""
        elif line.startswith("# TYPE "):
            kinds[words[2]] = words[3]
        elif found := _SAMPLE.fullmatch(line):
            labels = {name: _plain(value) for name, value in _LABEL.findall(found[2] or "")}
            samples.setdefault(found[1], []).append(Sample(labels, float(found[3])))
    return [
        Family(name, cast("Kind", kinds.get(name, "gauge")), helps.get(name, ""), tuple(told))
        for name, told in samples.items()
    ]


def with_name(text: str, name: str) -> str:
    """Give the lines of one family."""
    starts = (f"# HELP {name} ", f"# TYPE {name} ", f"{name} ", f"{name}{{")
    return "".join(f"{line}\n" for line in text.splitlines() if line.startswith(starts))


def _plain(value: str) -> str:
    return _ESCAPED.sub(lambda found: "\n" if found[1] == "n" else found[1], value)
