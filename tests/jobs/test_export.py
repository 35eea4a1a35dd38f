from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

from penstock.errors import UsageError
from penstock.jobs.definitions import definition_store
from penstock.jobs.export import export
from penstock.jobs.submit import Submission, submit
from penstock.log.open import open_log
from tests.jobs.defined import a_program


def test_a_job_that_has_not_run_is_exported_with_its_input_and_texts(tmp_path: Path) -> None:
    home, source = tmp_path / "home", tmp_path / "shop.py"
    source.write_text("app = ...")
    schema = pa.schema([("user", pa.string()), ("v", pa.int64())])
    with open_log(home) as log:
        log.create_topic("views", partitions=2, schema=schema)
        for partition in (0, 1):
            rows = [{"user": f"u{n}", "v": n} for n in range(3)]
            log.append("views", partition, pa.Table.from_pylist(rows, schema))
    submit(home, a_program(), Submission(source=str(source), wish="stopped"))
    done = export(home, "shop", tmp_path / "out", with_input=True)
    assert done.rows == {"input/views.parquet": 6}
    found = pl.read_parquet(tmp_path / "out" / "input" / "views.parquet")
    assert found.select("_partition", "_offset", "v").rows()[-1] == (1, 2, 2)
    told = json.loads((tmp_path / "out" / "definition.json").read_text())
    assert (told["name"], told["versions"], told["history"][0]["what"]) == (
        "shop",
        [1],
        "submitted",
    )
    assert json.loads((tmp_path / "out" / "positions.json").read_text()) == {}
    assert "aggregate by user" in (tmp_path / "out" / "plan.txt").read_text()
    assert (tmp_path / "out" / "source" / "shop.py").read_text() == "app = ..."
    assert definition_store(home).history("shop")[-1].what == "exported"


def test_an_export_has_a_folder_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="EXPORT_EXISTS"):
        export(tmp_path, "shop", tmp_path)
