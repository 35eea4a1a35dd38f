from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from bench.nexmark.events import events_folder, write_events
from bench.nexmark.rows import FIRST_ID, START_MS
from bench.nexmark.schemas import KINDS
from penstock.log.open import open_log
from penstock.log.port import ReadLimit

EVENTS = 20_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return events_folder(EVENTS, below=tmp_path_factory.mktemp("nexmark"))


def rows(folder: Path, kind: str) -> pa.Table:
    files = sorted((folder / kind).glob("*.parquet"))
    return pa.concat_tables([pq.read_table(file) for file in files])


def test_of_fifty_events_one_is_a_person_three_are_auctions_and_the_rest_bids(folder: Path) -> None:
    counts = {kind: rows(folder, kind).num_rows for kind in KINDS}
    assert counts == {"person": 400, "auction": 1200, "bid": 18_400}


def test_ids_go_up_by_one_and_time_by_ten_thousand_events_a_second(folder: Path) -> None:
    for kind in ("person", "auction"):
        found = rows(folder, kind)["id"].to_pylist()
        assert found == list(range(FIRST_ID, FIRST_ID + len(found)))
    times = rows(folder, "bid")["date_time"].cast(pa.int64()).to_numpy()
    assert bool((np.diff(times) >= 0).all())
    assert (times[0], times[-1]) == (START_MS, START_MS + EVENTS // 10 - 1)


def test_half_of_the_bids_are_for_a_hot_auction_and_most_by_a_hot_bidder(folder: Path) -> None:
    bids = rows(folder, "bid")
    hot_auctions = np.mean((bids["auction"].to_numpy() - FIRST_ID) % 100 == 0)
    hot_bidders = np.mean((bids["bidder"].to_numpy() - FIRST_ID) % 100 == 1)
    hot_sellers = np.mean((rows(folder, "auction")["seller"].to_numpy() - FIRST_ID) % 100 == 0)
    assert hot_auctions == pytest.approx(0.5, abs=0.03)
    assert hot_bidders == pytest.approx(0.75, abs=0.03)
    assert hot_sellers == pytest.approx(0.75, abs=0.05)


def test_bids_have_the_size_prices_and_channels_of_nexmark(folder: Path) -> None:
    bids = rows(folder, "bid")
    assert bids.schema.equals(KINDS["bid"])
    assert pc.mean(pc.utf8_length(bids["extra"])).as_py() == pytest.approx(68, abs=1)
    assert 100 <= pc.min(bids["price"]).as_py() < 200
    assert 50_000_000 < pc.max(bids["price"]).as_py() <= 100_000_000
    hot = pc.is_in(bids["channel"], pa.array(["Apple", "Baidu", "Facebook", "Google"]))
    assert pc.mean(hot.cast(pa.int8())).as_py() == pytest.approx(0.5, abs=0.03)
    named = bids.filter(pc.invert(hot))
    with_id = pc.match_substring(named["url"], "&channel_id=")
    assert pc.mean(with_id.cast(pa.int8())).as_py() == pytest.approx(0.9, abs=0.03)


def test_an_auction_expires_after_it_began_and_has_a_reserve(folder: Path) -> None:
    auctions = rows(folder, "auction")
    assert pc.all(pc.less(auctions["date_time"], auctions["expires"])).as_py()
    assert pc.all(pc.less(auctions["initial_bid"], auctions["reserve"])).as_py()
    assert set(auctions["category"].to_pylist()) == set(range(10, 15))


def test_the_topics_hold_the_rows_of_the_files_in_their_order(folder: Path) -> None:
    with open_log(folder / "log") as log:
        for kind, schema in KINDS.items():
            whole = rows(folder, kind)
            for partition in range(2):
                found = log.read(kind, partition, 0, ReadLimit(records=EVENTS)).rows
                dealt = whole.take(pa.array(range(partition, whole.num_rows, 2)))
                assert found.select(schema.names)[0].to_pylist() == dealt[0].to_pylist(), kind
        assert log.read("side", 0, 0, ReadLimit()).rows.num_rows == 5000


def test_the_same_seed_gives_the_same_rows_and_another_one_others(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_events(tmp_path / name, 2_000, seed=seed, files=2)
    first, again, other = (rows(tmp_path / name, "bid") for name in "abc")
    assert first.equals(again)
    assert not first.equals(other)


def test_disorder_keeps_the_rows_late_by_so_much_and_no_more(tmp_path: Path) -> None:
    write_events(tmp_path / "late", EVENTS, disorder_ms=300, files=2)
    bids = rows(tmp_path / "late", "bid")
    times = bids["date_time"].cast(pa.int64()).to_numpy()
    behind = np.maximum.accumulate(times) - times
    assert 200 < behind.max() <= 300
    assert sorted(times) == sorted(START_MS + n // 10 for n in range(EVENTS) if n % 50 >= 4)
