from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from penstock.jobs.replay import Replayed
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.serve.pages.dead_letters import replayed_text
from tests.pages.conftest import Opened

Take = Callable[[Page, str], Path]


def test_what_became_of_letters_is_said() -> None:
    done = Replayed({TopicPartition("orders", 0): 3}, before=2, rowless=1, gone=4)
    assert replayed_text(done) == (
        "3 sent again; 2 had been sent before; 1 do not know their record; 4 are gone from the log"
    )


def test_letters_show_their_cause_and_are_replayed_one_and_then_all(
    opened: Opened, project: Path, picture: Take
) -> None:
    page = opened("/dead-letters")
    panel = page.get_by_role("region", name="Letter", exact=True)
    expect(panel).to_contain_text("where a whole number (int64) is expected")
    expect(panel).to_contain_text('"n": "many"')
    expect(panel).to_contain_text("000000  7b 22")
    picture(page, "dead-letters")
    page.get_by_role("button", name="Replay this one").click()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Replay this one").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("1 sent again")).to_be_visible()
    page.get_by_role("button", name="Replay all").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("5 sent again; 1 had been sent before")).to_be_visible()
    with open_log(project / "shop") as log:
        assert "order_lines.dead.replayed" in log.topics()


def test_a_topic_without_letters_is_refused(opened: Opened) -> None:
    page = opened("/dead-letters?topic=views")
    expect(page.get_by_role("alert")).to_contain_text("DEAD_TOPIC")
