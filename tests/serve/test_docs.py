from __future__ import annotations

import re
from pathlib import Path

import pytest

from penstock.log.open import open_log
from penstock.schema.registry.registry import Registry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "registry.md"


@pytest.mark.usefixtures("working_directory")
def test_the_programs_of_the_page_run_as_written() -> None:
    first, second = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(first, str(PAGE), "exec"), {})  # our own page
    with open_log() as log, HttpServer(registry_app(Registry(log))) as server:
        there = second.replace("http://127.0.0.1:8081", server.url)
        names: dict[str, object] = {}
        exec(compile(there, str(PAGE), "exec"), names)
        close = getattr(names["client"], "close", None)
        assert close is not None
        close()
