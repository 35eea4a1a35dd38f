from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from penstock.jobs.definitions import definition_store
from penstock.serve.pages.job_actions import offered
from penstock.serve.pages.job_words import ago_text, count_text, state_kind
from tests.pages.conftest import Opened
from tests.pages.work_home import Work


def test_numbers_and_spans_are_written_for_people() -> None:
    assert [count_text(number) for number in (None, 12, 12_400, 3_200_000)] == [
        "-", "12", "12.4 k", "3.2 M",
    ]  # fmt: skip
    assert [ago_text(span) for span in (None, 900, 61_000, 90_000_000)] == [
        "-", "0 s", "1 m 1 s", "1 d 1 h",
    ]  # fmt: skip
    assert (state_kind("running"), state_kind("failed"), state_kind("stopped")) == (
        "good live", "bad", "",
    )  # fmt: skip


def test_only_what_makes_sense_is_offered() -> None:
    assert [action.name for action in offered("running", "running")] == ["pause", "stop"]
    assert [action.name for action in offered("paused", "paused")] == ["resume", "stop"]
    assert [action.name for action in offered("stopped", "stopped")] == ["start"]
    assert [action.name for action in offered("running", "failed")] == ["again"]


def test_jobs_are_listed_and_told_what_to_do(
    opened: Opened, work_server: str, work: Work, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/jobs", url=work_server)
    row = page.locator("tr", has_text="version 1").filter(has_text="archive")
    expect(row).to_contain_text("paused")
    expect(page.locator("tr", has_text="views").last).to_contain_text(
        # Another test lets a batch come.
        re.compile(r"(3,120|4,321)/s")
    )
    picture(page, "jobs-light")
    row.get_by_role("button", name="Resume archive").click()
    expect(row).to_contain_text("waiting")
    row.get_by_role("button", name="Stop archive").click()
    expect(page.get_by_text("what it reads from piles up meanwhile")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    assert definition_store(work.home).get("archive").wish == "running"
    row.get_by_role("button", name="Stop archive").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop").click()
    expect(row).to_contain_text("stopped")
    assert definition_store(work.home).get("archive").wish == "stopped"


def test_a_job_shows_how_it_fares_as_it_goes_on(
    opened: Opened, work_server: str, work: Work, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/jobs/views", url=work_server)
    expect(page.locator('[data-stat="late"]')).to_have_text("87")
    expect(page.locator("[data-holder]")).to_contain_text("Partition 0 of scan-page_views holds")
    picture(page, "job-light")
    page.evaluate("document.querySelector('[data-stat=rate]').setAttribute('data-same', 'yes')")
    work.next_batch(4321)
    expect(page.locator('[data-stat="rate"][data-same]')).to_have_text("4,321/s")
    page.get_by_role("tab", name="Operators").click()
    expect(page.get_by_text("aggregate-1").first).to_be_visible()
    expect(page.get_by_text("12,388").first).to_be_visible()
    page.get_by_role("tab", name="Plan").click()
    plan = page.locator("[data-plan]")
    expect(plan).to_contain_text("page_views")
    page.get_by_role("button", name="Physical").click()
    expect(plan).to_contain_text("bucket")
    picture(page, "job-plan-light")
    page.get_by_role("button", name="Spark").click()
    expect(plan).to_contain_text("Spark has made no plan of it yet")
    page.get_by_role("tab", name="Failures").click()
    expect(page.get_by_text("views.py:12", exact=True)).to_be_visible()
    expect(page.get_by_text("TypeError", exact=True)).to_be_visible()
    page.get_by_role("tab", name="History").click()
    expect(page.get_by_text("submitted")).to_be_visible()
    page.get_by_role("tab", name="Log").click()
    expect(page.locator("[data-log]")).to_contain_text("running")


def test_a_rewind_is_asked_for_and_can_be_left(opened: Opened, work_server: str) -> None:
    page = opened("/jobs/views", url=work_server)
    page.get_by_role("button", name="More actions").click()
    page.get_by_text("Rewind…").click()
    page.get_by_label("To", exact=True).fill("end")
    page.get_by_role("checkbox", name="Remove what it has written first").click()
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("What it has written is removed first.")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_job_fits_a_phone_in_the_dark(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/jobs/views", url=work_server, phone=True, dark=True)
    expect(page.locator('[data-stat="dead"]')).to_have_text("12")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "job-phone-dark")


def test_a_job_that_is_not_there_is_told(opened: Opened, work_server: str) -> None:
    page = opened("/jobs/vievs", url=work_server)
    expect(page.get_by_role("alert")).to_contain_text("JOB_MISSING")
