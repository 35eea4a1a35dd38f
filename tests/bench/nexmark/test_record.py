from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench.details import plots_of, sheets_of
from bench.nexmark import run, smoke
from bench.nexmark.record import Record, Remark, Run, durable
from bench.report import write
from bench.result import Result, load, save
from bench.scale import Scale

QUICK = Scale(quick=True, folder=Path("nowhere"))
CASE = "1,000,000 events"


def a_run(query: str, engine: str, cpu: float, case: str = CASE) -> Run:
    return Run(case, query, engine, 1000, 2.0, cpu, 300.0, 0.5, 10, "now")


def a_record(*runs: Run, remarks: tuple[Remark, ...] = ()) -> Record:
    engines = {
        "ours": {"version": "0.1", "durability": "exactly once"},
        "spark": {"version": "4", "durability": "a checkpoint a batch"},
        "flink": {"version": "2", "durability": "a checkpoint every 10 s"},
        "quix": {"version": "3", "durability": "none: state in memory"},
    }
    return Record(engines, runs, remarks)


BOTH = a_record(
    *(a_run("q0", "ours", 1.0), a_run("q0", "ours", 2.0), a_run("q0", "spark", 4.0)),
    *(a_run("q0", "flink", 2.0), a_run("q0", "quix", 0.5)),
    *(a_run("q5", "ours", 2.0), a_run("q5", "spark", 2.0)),
    remarks=(Remark(CASE, "q6", "flink", "refused", "no | such\nwindow"),),
)


def a_result(record: Record = BOTH) -> Result:
    return run.as_result(record, QUICK)


def test_the_best_durable_peer_is_the_baseline_and_one_in_memory_is_none() -> None:
    assert BOTH.best_durable_peer("q0") == "flink"
    assert BOTH.ratio("q0", "flink") == 2.0
    assert not durable(BOTH.engines["quix"])
    assert durable({"durable": True, "durability": "none of your business"})


def test_the_geometric_mean_is_over_the_queries_that_both_ran() -> None:
    assert BOTH.mean_ratio(lambda _: "spark") == pytest.approx(2.0)
    assert BOTH.mean_ratio(lambda _: "pathway") is None
    measures = a_result().measures
    assert [measure.met for measure in measures] == [False, True, False]


def test_a_part_that_is_measured_again_takes_the_place_of_what_was_kept() -> None:
    again = a_record(a_run("q0", "ours", 8.0), a_run("q0", "ours", 9.0, "5,000,000 events"))
    merged = BOTH.updated(again)
    assert merged.cases == [CASE, "5,000,000 events"]
    assert [item.cpu for item in merged.of_case(CASE).runs_of("q0", "ours")] == [8.0]
    assert merged.of_case(CASE).runs_of("q0", "spark") == BOTH.runs_of("q0", "spark")
    assert merged.remarks == BOTH.remarks


def test_a_ratio_of_runs_that_were_not_taken_by_turns_is_marked(tmp_path: Path) -> None:
    later = replace(a_run("q5", "ours", 1.0), began="later")
    page = write([a_result(BOTH.updated(a_record(later)))], tmp_path).read_text()
    assert "| q5, hot items, sliding windows | 1000 | 500 |  |  | 2 * (PySpark) | 2 * |  |" in page
    assert "; * not in one go)" in page


def test_a_result_is_kept_with_every_run_and_read_again(tmp_path: Path) -> None:
    kept = load(save(a_result(), tmp_path))
    assert Record.of(kept.details) == BOTH
    scale = replace(QUICK, kept=tmp_path)
    assert run._before(scale) == BOTH
    assert run._before(QUICK) == Record()


def test_the_page_has_a_query_a_row_and_an_engine_a_column(tmp_path: Path) -> None:
    page = write([a_result()], tmp_path).read_text()
    assert "| query | Penstock | PySpark | PyFlink | Quix Streams |" in page
    assert "| q0, pass through | 1000 (500) | 250 | 500 | 2000 | 2 (PyFlink) | 4 |" in page
    assert "| geometric mean |  |  |  |  | 1.41 | 2 |" in page
    assert "| q6 | PyFlink | refused | no / such window |" in page
    assert "(img/nexmark-engines-0.svg)" in page
    texts = [item.text for item in ElementTree.parse(tmp_path / "img/nexmark-engines-0.svg").iter()]
    assert {"q0", "q5", "Penstock", "PyFlink", "1,000"} <= set(texts)


def test_no_runs_make_no_tables_of_numbers() -> None:
    assert [sheet.title for sheet in sheets_of(a_result(Record()))] == []
    assert list(plots_of(a_result(Record()))) == []


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("engines", "ours,spork", '"spork" does not exist; there are: ours, spark'),
        ("queries", "q23", '"q23" does not exist; there are: q0'),
        ("events", "many", '"many" is not a number'),
    ],
)
def test_a_wrong_option_is_named(option: str, value: str, told: str) -> None:
    with pytest.raises(SystemExit, match=told):
        run.run(replace(QUICK, asked={option: value}))


def test_the_smoke_bench_tells_how_ratios_stand_to_those_kept() -> None:
    measures = tuple(smoke._measures(BOTH))
    now = replace(a_result(), measures=measures)
    kept = replace(a_result(), measures=(replace(measures[0], baseline=(2.0, 2.0)), measures[1]))
    lines = list(smoke.compared(now, kept))
    assert lines[0].endswith("375.00 when last kept: less than before, worth a look")
    assert lines[1].endswith("1.00 when last kept: as before or better")
    assert lines[2] == "q8: not measured, see above"
    assert "none is kept" in next(smoke.compared(now, None))


def test_a_smoke_bench_that_breaks_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def breaks(_: Scale) -> Result:
        raise RuntimeError("no Java")

    monkeypatch.setattr(smoke, "run", breaks)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert smoke.main(tmp_path) == 0
    assert "the bench did not run: RuntimeError: no Java" in capsys.readouterr().err


def test_an_engine_whose_results_go_nowhere_is_compared_with_by_itself(tmp_path: Path) -> None:
    there = a_record(a_run("q0", "ours", 1.0), a_run("q0", "spark", 4.0))
    words = {"spark-nowhere": {"durability": "a checkpoint a batch", "durable": False}}
    record = there.updated(Record(words, (a_run("q0", "spark-nowhere", 0.5),)))
    assert record.best_durable_peer("q0") == "spark"
    assert record.best_to_nowhere("q0") == "spark-nowhere"
    page = write([a_result(record)], tmp_path).read_text()
    assert "| q0, pass through | 1000 | 250 | 2000 | 4 (PySpark) | 4 | 0.5 (PySpark) |" in page
