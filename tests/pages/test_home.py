from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from penstock.log.open import open_log
from penstock.log.topic import TopicConfig
from penstock.serve.access.role import Role
from penstock.serve.access.token_file import TokenFile
from penstock.serve.pages.graph_layout import ACROSS, HEIGHT, WIDTH, lay_out
from penstock.serve.pages.shown_flow import MOST_DRAWN, shown_part
from penstock.watch.graph import Edge, Graph, Node
from tests.pages.conftest import Opened
from tests.pages.serving import served

Take = Callable[[Page, str], Path]


def a_graph(jobs: int, alone: int = 0) -> Graph:
    """Gives jobs that each read a topic of their own and write another, and topics alone."""
    nodes = [Node(f"topic:alone-{n}", "topic", f"alone-{n}") for n in range(alone)]
    edges = []
    for n in range(jobs):
        nodes += [
            Node(f"topic:in-{n}", "topic", f"in-{n}"),
            Node(f"job:job-{n}", "job", f"job-{n}"),
            Node(f"topic:out-{n}", "topic", f"out-{n}"),
        ]
        edges += [
            Edge(f"topic:in-{n}", f"job:job-{n}", "reads"),
            Edge(f"job:job-{n}", f"topic:out-{n}", "writes"),
        ]
    return Graph(0, tuple(nodes), tuple(edges))


def test_what_flows_goes_to_the_right_and_boxes_do_not_touch() -> None:
    links = [("a", "j"), ("b", "j"), ("j", "c"), ("c", "k"), ("k", "d"), ("a", "k"), ("k", "e")]
    layout = lay_out(["a", "b", "j", "c", "k", "d", "e"], links)
    for source, target in links:
        assert layout.boxes[target].x >= layout.boxes[source].x + WIDTH + ACROSS
    boxes = list(layout.boxes.values())
    for number, one in enumerate(boxes):
        for other in boxes[:number]:
            assert one.x != other.x or abs(one.y - other.y) >= HEIGHT
    assert set(layout.lines) == set(layout.labels) == set(links)


def test_a_loop_is_drawn_with_one_line_that_leads_back() -> None:
    layout = lay_out(["a", "j"], [("a", "j"), ("j", "a")])
    assert layout.boxes["j"].x > layout.boxes["a"].x
    assert len(layout.lines) == 2


def test_nothing_takes_no_room() -> None:
    assert lay_out([], []).width == 0


def test_only_what_is_connected_is_drawn_and_the_rest_is_listed() -> None:
    part = shown_part(a_graph(2, alone=1000))
    assert len(part.nodes) == 6
    assert len(part.alone) == 1000


def test_a_search_draws_what_flows_to_and_from_what_it_finds() -> None:
    part = shown_part(a_graph(5, alone=3), "in-3")
    assert {node.name for node in part.nodes} == {"in-3", "job-3", "out-3"}
    assert part.alone == ()


def test_of_too_many_jobs_whole_neighbourhoods_are_drawn() -> None:
    part = shown_part(a_graph(200))
    assert len(part.nodes) == MOST_DRAWN
    assert part.left_out == 600 - MOST_DRAWN


def test_the_graph_shows_rate_lag_and_watermark_on_the_lines_and_changes_by_itself(
    opened: Opened, picture: Take
) -> None:
    page = opened("/")
    flow = page.get_by_role("group", name="Dataflow of topics and jobs")
    label = flow.locator(".ps-flow-label").first
    expect(label).to_contain_text("/s · lag ")
    expect(label).to_contain_text("wm ")
    box = flow.get_by_role("link", name="views", exact=False).first
    before = box.inner_text()
    expect(box).not_to_have_text(before)
    picture(page, "home")
    flow.get_by_role("link", name="views-per-page").click()
    expect(page).to_have_url(re.compile("/jobs/views-per-page$"))


def test_a_click_on_a_topic_leads_to_its_page(opened: Opened, picture: Take) -> None:
    page = opened("/", dark=True)
    page.get_by_label("Find a topic or a job").fill("users")
    link = page.get_by_role("link", name="users")
    expect(link).to_be_visible()
    page.get_by_label("Find a topic or a job").fill("")
    expect(page.locator(".ps-flow-box.job")).to_be_visible()
    picture(page, "home-dark")
    page.locator(".ps-flow-box.topic").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("views")


def test_who_logs_in_as_a_reader_sees_a_new_home_fill_and_may_not_write(
    opened: Opened, tmp_path: Path
) -> None:
    home = tmp_path / "bare"
    token = TokenFile(home).create("eve", Role.READER)
    with served(home, tmp_path, "--no-jobs") as url:
        page = opened("/", url=url)
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_text("Nothing flows here yet")).to_be_visible()
        expect(page.get_by_text("penstock init shop")).to_be_visible()
        with open_log(home) as log:
            log.create_topic("orders")
        page.get_by_role("link", name="orders").click()
        page.get_by_role("button", name="Produce a record").click()
        page.get_by_role("dialog").get_by_label("Value", exact=True).fill("1")
        page.get_by_role("dialog").get_by_role("button", name="Append").click()
        expect(page.get_by_text("ROLE_NEEDED")).to_be_visible()
        page.goto("about:blank")


@pytest.mark.soak
def test_1000_topics_are_no_burden(opened: Opened, tmp_path: Path) -> None:
    with open_log(tmp_path / "large") as log:
        for number in range(1000):
            log.create_topic(f"topic-{number:04}", config=TopicConfig(fsync="os"))
    with served(tmp_path / "large", tmp_path, "--no-jobs") as url:
        page = opened("/topics", url=url)
        expect(page.get_by_text("1,000 of 1,000 topics")).to_be_visible()
        assert page.locator("tbody tr").count() < 200
        page.get_by_label("Find a topic").fill("0777")
        expect(page.get_by_text("1 of 1,000 topics")).to_be_visible()
        page.goto(f"{url}/")
        expect(page.get_by_text("Topics that no job reads or writes")).to_be_visible()
        page.get_by_label("Find a topic or a job").fill("topic-0421")
        expect(page.get_by_role("link", name="topic-0421")).to_be_visible()
        page.goto("about:blank")
