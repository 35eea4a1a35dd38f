from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from penstock.errors import RecordError, UsageError
from penstock.log.embedded.log import EmbeddedLog
from penstock.log.embedded.memory import MemoryStorage
from penstock.log.open import open_log
from penstock.log.record import TopicPartition
from penstock.log.rows import rows_of_bytes
from penstock.schema.registry.registry import Registry
from penstock.serve.pages.hand_record import HandRecord, append_record
from penstock.serve.pages.record_filter import RecordFilter, parse_columns
from penstock.serve.pages.record_pages import RecordPages
from penstock.serve.record_rows import RecordRows
from tests.pages.conftest import Opened
from tests.pages.filled_home import VIEWS

Take = Callable[[Page, str], Path]


@pytest.fixture
def pages() -> RecordPages:
    """Pages of a topic whose records are a millisecond apart, in three partitions by turns."""
    log = EmbeddedLog(MemoryStorage())
    log.create_topic("t", partitions=3)
    for partition in range(3):
        numbers = range(partition, 300, 3)
        values = [b'{"n": %d, "at": {"page": "/%d"}}' % (n, n % 10) for n in numbers]
        log.append(
            "t",
            partition,
            rows_of_bytes(values, keys=[b"k%d" % n for n in numbers], timestamps=list(numbers)),
        )
    return RecordPages(log, RecordRows(log, Registry(log), "t"), "t", (0, 1, 2))


def numbers(rows: tuple[dict[str, object], ...]) -> list[int]:
    """Give what the values count."""
    return [row["value"]["n"] for row in rows]  # type: ignore[index]


def test_pages_backwards_give_all_records_by_time_once(pages: RecordPages) -> None:
    places, found = pages.start("latest"), []
    while True:
        page = pages.read(places, "older", 70, RecordFilter())
        found += numbers(page.rows)
        places = page.places
        if page.ended:
            break
    assert found == list(range(299, -1, -1))


def test_pages_forwards_go_on_from_an_offset(pages: RecordPages) -> None:
    places = pages.start(50)
    first = pages.read(places, "newer", 4, RecordFilter())
    second = pages.read(first.places, "newer", 500, RecordFilter())
    assert numbers(first.rows) == [150, 151, 152, 153]
    assert numbers(second.rows) == list(range(154, 300))
    assert second.ended


def test_filters_take_keys_text_and_columns_of_columns(pages: RecordPages) -> None:
    places = pages.start("earliest")
    by_key = pages.read(places, "newer", 10, RecordFilter(key="K299"))
    by_text = pages.read(places, "newer", 3, RecordFilter(text='"/7"'))
    by_column = pages.read(places, "newer", 2, RecordFilter(columns=parse_columns("at.page = /3")))
    assert numbers(by_key.rows) == [299]
    assert numbers(by_text.rows) == [7, 17, 27]
    assert numbers(by_column.rows) == [3, 13]


def test_a_filter_without_an_equals_sign_is_refused() -> None:
    with pytest.raises(UsageError, match="FILTER_FORMAT"):
        parse_columns("page /home")


def test_a_record_by_hand_is_checked_against_the_columns() -> None:
    log = EmbeddedLog(MemoryStorage())
    log.create_topic("views", schema=VIEWS)
    with pytest.raises(RecordError, match="RECORD_TYPED") as caught:
        append_record(log, "views", HandRecord('{"usr": "ann"}'))
    assert "user, page, ms" in caught.value.hint
    with pytest.raises(RecordError, match="not JSON"):
        append_record(log, "views", HandRecord("ann"))
    with pytest.raises(RecordError, match="name=value"):
        append_record(log, "views", HandRecord('{"user": "ann"}', headers="web"))
    assert append_record(log, "views", HandRecord('{"user": "ann"}', key="ann")) == (0, 0)


def test_the_list_finds_topics_and_leads_to_them(opened: Opened, picture: Take) -> None:
    page = opened("/topics")
    expect(page.get_by_role("link", name="views", exact=True)).to_be_visible()
    picture(page, "topics")
    page.get_by_label("Find a topic").fill("user")
    expect(page.get_by_role("link", name="orders", exact=True)).not_to_be_visible()
    page.get_by_role("link", name="users", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("users")


def test_records_are_decoded_filtered_and_found_by_offset(opened: Opened, picture: Take) -> None:
    page = opened("/topics/views")
    rows = page.locator(".ps-records tbody tr")
    expect(rows).to_have_count(50)
    page.get_by_label("Column = value").fill("page = /cart")
    page.get_by_label("Key has").fill("user-1")
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_role("status").filter(has_text="looked at")).to_be_visible()
    for text in rows.all_inner_texts():
        assert '"page": "/cart"' in text
        assert "user-1" in text
    page.get_by_label("Column = value").fill("")
    page.get_by_label("Key has").fill("")
    page.get_by_label("Start").click()
    page.get_by_role("option", name="From an offset").click()
    page.get_by_label("Offset", exact=True).fill("12")
    page.get_by_label("Offset", exact=True).press("Enter")
    expect(rows.first.locator("td").nth(1)).to_have_text("12")
    rows.first.get_by_role("button").click()
    detail = page.get_by_role("complementary", name="Record")
    expect(detail).to_contain_text("source: web")
    picture(page, "topic")


def test_wrong_input_is_answered_with_code_and_hint(opened: Opened) -> None:
    page = opened("/topics/views")
    page.get_by_label("Column = value").fill("page")
    page.get_by_label("Column = value").press("Enter")
    expect(page.get_by_text("FILTER_FORMAT")).to_be_visible()
    page.get_by_label("Column = value").fill("")
    page.get_by_label("Start").click()
    page.get_by_role("option", name="From an offset").click()
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_text("OFFSET_FORMAT")).to_be_visible()
    page.get_by_label("Start").click()
    page.get_by_role("option", name="From a time").click()
    page.get_by_label("Time, ISO 8601, UTC").fill("tomorrow")
    page.get_by_role("button", name="Read").click()
    expect(page.get_by_text("TIME_FORMAT")).to_be_visible()


def test_live_records_appear_as_they_come(opened: Opened, project: Path) -> None:
    page = opened("/topics/users")
    page.get_by_text("Live", exact=True).click()
    expect(page.get_by_text("live: waiting for records")).to_be_visible()
    with open_log(project / "shop") as log:
        append_record(log, "users", HandRecord('{"id": 4711}', key="new"))
    expect(page.locator(".ps-records tbody tr").first).to_contain_text("4711")


def test_a_record_is_produced_by_hand(opened: Opened, picture: Take) -> None:
    page = opened("/topics/orders")
    page.get_by_role("button", name="Produce a record").click()
    form = page.get_by_role("dialog")
    form.get_by_label("Value", exact=True).fill('{"id": 9000, "n": 2}')
    form.get_by_label("Key").fill("by-hand")
    form.get_by_label("Headers").fill("source=page")
    form.get_by_role("button", name="Append").click()
    expect(page.get_by_text("appended to partition")).to_be_visible()
    expect(page.locator(".ps-records tbody tr").first).to_contain_text("by-hand")


def test_a_group_is_set_back_to_a_record_after_a_confirmation(
    opened: Opened, project: Path, picture: Take
) -> None:
    with open_log(project / "shop") as log:
        log.commit("audit", {TopicPartition("orders", number): 9 for number in range(2)})
    page = opened("/topics/orders")
    page.get_by_label("Start").click()
    page.get_by_role("option", name="From an offset").click()
    page.get_by_label("Offset", exact=True).fill("3")
    page.get_by_role("button", name="Read").click()
    row = page.locator(".ps-records tbody tr").first
    expect(row.locator("td").nth(1)).to_have_text("3")
    row.get_by_role("button").click()
    page.get_by_role("button", name="Replay from here").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("group audit")
    picture(page, "replay")
    dialog.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("group audit reads again from here")).to_be_visible()
    with open_log(project / "shop") as log:
        assert min(log.committed("audit").values()) == 3


def test_partitions_consumers_columns_and_settings_are_shown(opened: Opened) -> None:
    page = opened("/topics/views")
    for tab, text in {
        "Partitions": "Segments",
        "Consumers": "reports",
        "Schema": "May be null",
        "Settings": "segment_bytes",
    }.items():
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_text(text, exact=True).first).to_be_visible()
