"""Measurements: named families of samples, as Prometheus has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["counter", "gauge"]
"""A counter only grows; a gauge goes up and down."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A value, and what it is the value of."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Family:
    """Samples of one name, all with the same labels."""

    name: str
    kind: Kind
    help: str
    samples: tuple[Sample, ...] = ()
