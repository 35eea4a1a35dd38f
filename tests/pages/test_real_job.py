"""All that a server can do to a job, done to one that runs on Spark: by HTTP, and by hand."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator

import polars as pl
import pytest
from playwright.sync_api import Page, expect

from tests.pages.conftest import Opened
from tests.pages.real_shop import Shop, real_shop, until

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with real_shop(tmp_path_factory.mktemp("real")) as found:
        yield found


def test_every_verb_of_the_api_does_to_a_job_what_it_says(shop: Shop) -> None:
    made = shop.do("savepoint", 201, folder="kept")
    assert shop.ask("GET", "/jobs/shop/savepoints")[0] == made
    known, place = shop.counted(), shop.position()
    shop.give("ann", "cid")
    shop.await_apples()
    assert shop.do("rescale", parallelism=3)["after"] == 3
    copy = shop.do("clone", 201, name="copy", suffix=".copy")
    assert copy["name"] == "copy"
    shop.give("ann")
    shop.await_apples()
    # It knows what the first has counted before, and writes what has changed since.
    shop.await_apples("counted.copy", "ann")
    assert shop.ask("POST", "/jobs/copy/cancel")["wish"] == "stopped"
    assert shop.ask("DELETE", "/jobs/copy")["name"] == "copy"
    written = shop.ask("GET", "/topics/counted")["id"]
    places = shop.do("rewind", to=["beginning"], drop_results=True)
    assert sum(place["after"] for place in places) == 0 < sum(place["before"] for place in places)
    shop.give("dan")
    shop.await_apples()
    assert shop.ask("GET", "/topics/counted")["id"] != written, "it was to be made anew"
    until(lambda: shop.job()["state"] == "running")
    assert shop.job()["run"]["parallelism"] == 3
    shop.do("pause")
    until(lambda: shop.job()["state"] == "paused")
    shop.do("restore", folder="kept")
    require_known(shop.do("export", with_input=True), known, place)
    shop.do("resume")
    shop.give("bob")
    shop.await_apples()
    refused = shop.do("restore", 404, folder="never")
    assert "SAVEPOINT_MISSING" in str(refused)


def require_known(exported: bytes, known: dict[str, int], place: int) -> None:
    """Find by nothing but polars that a job knows no more than it did, and goes on from there."""
    archive = zipfile.ZipFile(io.BytesIO(exported))
    state = pl.read_parquet(archive.read("state/agg-1/keys.parquet"))
    assert sorted(state["user"]) == sorted(known)
    positions = json.loads(archive.read("positions.json"))
    assert sum(positions["orders"].values()) == place
    orders = pl.read_parquet(archive.read("input/orders.parquet"))
    assert orders.height > place


def test_letters_are_sent_again_and_rules_made_fire_and_resolve_by_the_api(shop: Shop) -> None:
    before = shop.letters()
    shop.give_pear("eve")
    until(lambda: len(shop.letters()) > len(before))
    (letter,) = shop.letters().keys() - before.keys()
    shop.prices.write_text("pear 1")
    replay = "/dead-letters/counted.dead/replay"
    which = {"offsets": str(letter), "reason": "LookupError"}
    assert shop.ask("POST", replay, json={**which, "dry_run": True})["records"] == 1
    assert shop.ask("POST", replay, json=which)["records"] == 1
    until(lambda: "eve" in shop.counted())
    assert shop.letters()[letter]
    assert shop.ask("POST", replay, json=which)["before"] == 1
    words = {"table": "counted", "when": "total > 1000", "message": "{user} owes {total}"}
    made = shop.ask("PUT", "/alerts/rich", 201, json=words)
    assert (made["made"], made["alerts"]) == (True, [])
    shop.give("gil", n=5000)
    until(lambda: shop.alerts("rich") == ["gil owes 5000"])
    shop.give("gil", n=-4999)
    until(lambda: not shop.alerts("rich"))
    states = [row["value"]["state"] for row in shop.records("alerts")]
    assert states[-2:] == ["firing", "resolved"]
    shop.ask("DELETE", "/alerts/rich", 204)
    assert shop.ask("GET", "/alerts")["rules"] == []


def test_a_job_is_saved_and_rewound_by_the_buttons_of_its_page(shop: Shop, opened: Opened) -> None:
    page = opened("/jobs/shop", url=shop.url)
    expect(page.get_by_role("region", name="Back-pressure")).to_contain_text("orders")
    page.get_by_role("tab", name="Plan").click()
    page.get_by_role("button", name="Spark", exact=True).click()
    # The run may have begun after the last order: its plan comes with its first batch.
    shop.give("ann")
    shop.await_apples()
    expect(page.locator("[data-plan]")).to_contain_text("MapInArrow", timeout=20_000)
    saved = len(shop.ask("GET", "/jobs/shop/savepoints"))
    _choose(page, "Take a savepoint")
    expect(page.get_by_text("a savepoint of shop is written")).to_be_visible(timeout=40_000)
    assert len(shop.ask("GET", "/jobs/shop/savepoints")) == saved + 1
    written = shop.ask("GET", "/topics/counted")["id"]
    _choose(page, "Rewind…")
    page.get_by_role("checkbox", name="Remove what it has written first").click()
    page.get_by_role("button", name="Next").click()
    page.get_by_role("dialog").get_by_role("button", name="Rewind").click()
    expect(page.get_by_text("shop begins anew at beginning")).to_be_visible(timeout=40_000)
    shop.give("hal")
    shop.await_apples()
    assert shop.ask("GET", "/topics/counted")["id"] != written
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_text("rewound").first).to_be_visible()


def _choose(page: Page, action: str) -> None:
    page.get_by_role("button", name="More actions").click()
    page.get_by_text(action).click()


def test_letters_are_sent_again_and_rules_made_fire_and_resolve_on_pages(
    shop: Shop, opened: Opened
) -> None:
    before = shop.letters()
    shop.give_pear("fay")
    until(lambda: len(shop.letters()) > len(before))
    shop.prices.write_text("pear 1")
    page = opened("/dead-letters", url=shop.url)
    panel = page.get_by_role("region", name="Letter", exact=True)
    expect(panel).to_contain_text("no price of a pear")
    page.get_by_role("button", name="Replay all").click()
    page.get_by_role("dialog").get_by_role("button", name="Replay").click()
    expect(page.get_by_text("1 sent again")).to_be_visible()
    until(lambda: "fay" in shop.counted())
    page = opened("/alerts", url=shop.url)
    page.get_by_role("button", name="New rule").click()
    page.get_by_label("Name", exact=True).fill("debts")
    page.get_by_label("Its name").fill("counted")
    page.get_by_label("When, such as failures > 10", exact=True).fill("total > 1000")
    page.get_by_label("Message, such as").fill("{user} has {total}")
    page.get_by_role("button", name="Make").click()
    rule = page.get_by_role("region", name="Rule debts")
    expect(rule).to_contain_text("calm")
    shop.give("ivy", n=5000)
    expect(rule).to_contain_text("ivy has 5000", timeout=20_000)
    shop.give("ivy", n=-4999)
    expect(rule).to_contain_text("calm", timeout=20_000)
    page.get_by_role("button", name="Remove debts").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No rule is set")).to_be_visible()
