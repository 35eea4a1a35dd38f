from __future__ import annotations

from pathlib import Path

import pytest

from bench.scale import Scale
from bench.subscribers import run


@pytest.mark.soak
def test_a_thousand_that_are_cut_at_random_miss_nothing_in_less_than_300_megabytes(
    tmp_path: Path,
) -> None:
    found = {measure.label: measure for measure in run(Scale(False, tmp_path)).measures}  # noqa: FBT003  # the full size
    assert {label: one.ours for label, one in found.items() if one.met is False} == {}
