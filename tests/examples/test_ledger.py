from __future__ import annotations

from pathlib import Path

import pytest

import penstock as ps
from examples.ledger import Account, Ledger, RefusedError, balances, main, morning


def test_a_balance_is_a_fold_of_events_at_any_version(tmp_path: Path) -> None:
    with ps.open_log(tmp_path) as log:
        ledger = Ledger(log)
        ledger.open("eve")
        ledger.pay_in("eve", 500)
        ledger.pay_out("eve", 120)
        seen = [ledger.account("eve", version=version) for version in range(4)]
        assert seen == [Account(), Account(1, 0), Account(2, 500), Account(3, 380)]
        ledger.close()


def test_who_decides_on_an_old_version_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with ps.open_log(tmp_path) as log:
        here, there = Ledger(log), Ledger(log)
        here.open("eve")
        seen = here.pay_in("eve", 500)
        there.pay_out("eve", 400, seen)
        with pytest.raises(ps.PenstockError, match="VERSION_CONFLICT"):
            here.pay_out("eve", 400, seen)
        with pytest.raises(RefusedError, match="eve has 100 cents"):
            here.pay_out("eve", 400)
        with pytest.raises(RefusedError, match="there is no account"):
            here.pay_in("nobody", 1)
        assert here.account("eve") == Account(3, 100)
        here.close()
        there.close()


def test_the_query_side_is_made_from_events_now_and_at_any_time(tmp_path: Path) -> None:
    tea = morning(tmp_path)
    assert balances(tmp_path, at=tea) == {"ann": 100_00, "bob": 20_00}
    assert balances(tmp_path) == {"ann": 30_00, "bob": 20_00}
    with ps.open_log(tmp_path) as log:
        ledger = Ledger(log)
        ledger.pay_in("bob", 1)
        ledger.close()
    assert balances(tmp_path)["bob"] == 20_01
    assert balances(tmp_path, at=0) == {}


def test_the_example_tells_of_both_clerks(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    told = capsys.readouterr().out
    assert "the second clerk: VERSION_CONFLICT" in told
    assert "balances at tea time: {'ann': 10000, 'bob': 2000}" in told
