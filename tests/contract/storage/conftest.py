from __future__ import annotations

from pathlib import Path

import pytest

from penstock.log.storage import Storage
from tests.contract.storage.adapters import ADAPTERS, Adapter


@pytest.fixture(params=ADAPTERS)
def adapter(request: pytest.FixtureRequest) -> Adapter:
    return ADAPTERS[request.param]


@pytest.fixture
def storage(adapter: Adapter, tmp_path: Path) -> Storage:
    made = adapter.make(tmp_path)
    made.make_directory("")
    return made


@pytest.fixture
def shared(adapter: Adapter, storage: Storage) -> Storage:
    if not adapter.other_processes:
        pytest.skip(f"{adapter.name} lives in one process")
    return storage
