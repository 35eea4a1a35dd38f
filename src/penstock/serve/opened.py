"""Opens all that a server works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from penstock.config import load_settings
from penstock.log.open import open_log
from penstock.schema.registry.open import open_schemas
from penstock.serve.platform import Platform
from penstock.sql.session import SqlSession


@contextmanager
def opened_platform(home: Path) -> Iterator[Platform]:
    """Open a home for the length of a with block."""
    with (
        open_log(home) as log,
        closing(open_schemas(log, load_settings().registry_url)) as registry,
        SqlSession(home) as sql,
    ):
        platform = Platform(home, log, registry, sql)
        with closing(platform.feeds), closing(platform.tables), closing(platform.answers):
            yield platform
