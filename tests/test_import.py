from __future__ import annotations

import os
import subprocess
import sys

import pytest

ASK = "import os, penstock; print(os.environ['MIMALLOC_ALLOW_THP'])"


@pytest.mark.parametrize(("given", "found"), [(None, "0"), ("1", "1")])
def test_arrow_takes_no_pages_of_two_megabytes_unless_somebody_wants_them(
    given: str | None, found: str
) -> None:
    environment = {name: v for name, v in os.environ.items() if name != "MIMALLOC_ALLOW_THP"}
    if given is not None:
        environment["MIMALLOC_ALLOW_THP"] = given
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, check=True, text=True
    )
    assert done.stdout.strip() == found
