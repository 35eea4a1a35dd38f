from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from penstock.errors import ConfigError, PenstockError
from penstock.project.dashboard import Dashboard, Panel, dashboard_text, read_dashboard
from penstock.project.dashboard_files import DashboardFiles, dashboard_files
from penstock.serve.access.role import Role
from penstock.serve.opened import opened_platform
from penstock.serve.pages.asking import followed
from penstock.serve.pages.chart import Axes, chart_options, number_of
from tests.pages.conftest import Opened
from tests.pages.work_home import DASHBOARD, Work

HEAD = 'title = "T"\nrefresh = "5s"\n'


def test_a_dashboard_is_written_as_it_is_read() -> None:
    panels = (
        Panel(title='a "b"', kind="line", query="SELECT 1,\n 2", y=("x", "y"), keep=7, width=3),
        Panel(kind="map", query="SELECT '''a'''\n\x07", mode="push", latitude="la"),
    )
    made = Dashboard(name="d", title="D", refresh=0.5, panels=panels)
    assert read_dashboard("d", dashboard_text(made), "d.toml") == made
    assert read_dashboard("d", HEAD, "d.toml").refresh == 5
    assert [panel.kind for panel in read_dashboard("v", DASHBOARD, "v").panels] == [
        "number", "line", "bar", "map", "table", "table",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = 3", "line 1 has title = 3"),
        ("title =", "line 1 is no TOML"),
        (HEAD + "colour = 1", 'line 3 has "colour", which does not exist'),
        (HEAD + 'refresh2 = "1s"', "Did you mean"),
        ('refresh = "1ms"', "line 1 has refresh"),
        ("panels = 1", "line 1 has panels that are no tables"),
        (HEAD + "\n[[panels]]\ntitle = 'x'", "line 4 begins a panel without a query"),
        (HEAD + "[[panels]]\nquery = 'q'\nkind = 'pie'", 'line 5 has kind = "pie"'),
        (
            HEAD + "[[panels]]\nquery = 'q'\n\n[[panels]]\nquery = 'q'\nwidth = 13",
            "line 8 has width",
        ),
        (HEAD + "[[panels]]\nquery = 'q'\ny = 3", "line 5 has y = 3"),
        (HEAD + "[[panels]]\nquery = 'q'\nunits = 'ms'", 'line 5 has "units"'),
    ],
)
def test_what_is_wrong_is_told_with_file_and_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match="DASHBOARD_FILE") as caught:
        read_dashboard("d", text, "some/d.toml")
    assert said in str(caught.value)
    assert "some/d.toml" in str(caught.value)


def test_files_are_found_saved_changed_and_removed(tmp_path: Path) -> None:
    (tmp_path / "penstock.toml").write_text("")
    (tmp_path / "deep").mkdir()
    files = dashboard_files(tmp_path / "home", tmp_path / "deep")
    assert files == DashboardFiles(tmp_path / "dashboards")
    assert files.names() == ()
    with pytest.raises(ConfigError, match="DASHBOARD_MISSING"):
        files.get("shop")
    first = files.save(Dashboard(name="shop"), (0, 0, 0))
    assert (files.names(), files.get("shop").heading) == (("shop",), "shop")
    with pytest.raises(ConfigError, match="DASHBOARD_CHANGED"):
        files.save(Dashboard(name="shop"), (0, 0, 0))
    files.save(Dashboard(name="shop", panels=(Panel(query="q"),)), first.stamp)
    assert len(files.get("shop").panels) == 1
    (files.folder / "shop.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="DASHBOARD_FILE"):
        files.get("shop")
    files.remove("shop")
    assert files.names() == ()
    for name in ("", "../x", "a/b", "a" * 65, ".x"):
        with pytest.raises(ConfigError, match="DASHBOARD_NAME"):
            files.get(name)


def test_columns_are_chosen_by_what_is_in_them() -> None:
    columns = ("region", "minute", "views")
    rows = (("a", "2026-01-31T12:00:00.000", 3), ("b", "2026-01-31T12:01:00.000", 4))
    lines = chart_options("line", columns, rows, Axes(split="region"))
    assert lines["xAxis"]["type"] == "time"
    assert [(it["name"], it["data"]) for it in lines["series"]] == [
        ("a", [["2026-01-31T12:00:00.000Z", 3]]),
        ("b", [["2026-01-31T12:01:00.000Z", 4]]),
    ]
    bars = chart_options("bar", ("region", "views"), (("a", 1), ("a", 2), ("b", 3)), Axes())
    assert (bars["xAxis"]["data"], bars["series"][0]["data"]) == (["a", "b"], [2, 3])
    dots = chart_options("map", ("lat", "lon", "n"), ((60, 25, 4), (None, 1, 1)), Axes(size="n"))
    assert dots["series"][-1]["data"][0]["value"] == [25, 60]
    struct = chart_options("bar", ("a", "b"), (("x", {":evil": "alert(1)"}),), Axes(y=("b",)))
    assert struct["series"][0]["data"] == [None]
    assert number_of(("n", "name"), ((1, "x"), (2500, "y")), Axes()) == "2,500"
    assert (number_of(("n",), (), Axes()), number_of(("n",), ((None,),), Axes())) == ("-", "None")


def test_a_panel_may_only_look_whoever_opens_it(tmp_path: Path) -> None:
    with (
        opened_platform(tmp_path) as platform,
        pytest.raises(PenstockError, match="ROLE_NEEDED"),
    ):
        followed(platform, "DROP STREAM clicks;", Role.READER)


def test_a_dashboard_is_live_and_follows_its_file(
    opened: Opened, work_server: str, work: Work, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/dashboards", url=work_server)
    page.get_by_role("link", name="Page views").click()
    expect(page.locator("[data-number]")).to_have_text("240")
    expect(page.locator('[data-panel="3"] canvas')).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    work.say("INSERT INTO clicks VALUES ('zoe', '/pricing', 31);")
    expect(page.get_by_role("cell", name="zoe")).to_be_visible()
    picture(page, "dashboard-light")
    path = work.folder / "dashboards" / "views.toml"
    path.write_text(DASHBOARD.replace("Views by minute", "Views a minute"))
    expect(page.get_by_text("Views a minute")).to_be_visible()
    path.write_text("title = ")
    expect(page.get_by_text("DASHBOARD_FILE")).to_be_visible()
    path.write_text(DASHBOARD)
    expect(page.get_by_text("Views by minute")).to_be_visible()


def test_a_dashboard_is_made_edited_and_saved_on_the_page(
    opened: Opened, work_server: str, work: Work
) -> None:
    page = opened("/dashboards", url=work_server)
    page.get_by_role("button", name="New dashboard").click()
    page.get_by_label("Title").fill("My shop")
    page.get_by_role("button", name="Make it").click()
    page.wait_for_url("**/dashboards/my-shop?edit=true")
    for title, query in (("One", "SELECT 41 + 1 AS it"), ("Two", "SELECT nonsense")):
        page.get_by_role("button", name="Add panel").click()
        page.get_by_label("Title").fill(title)
        page.get_by_label("Query").fill(query)
        page.get_by_role("button", name="Done").click()
    expect(page.get_by_text("42")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="nonsense")).to_be_visible()
    page.get_by_role("button", name="Move behind").first.click()
    expect(page.locator('[data-panel="0"]')).to_contain_text("Two")
    page.get_by_role("button", name="Remove panel").first.click()
    expect(page.locator("[data-panel]")).to_have_count(1)
    expect(page.locator('[data-panel="0"]')).to_contain_text("One")
    page.get_by_role("button", name="Save").click()
    # Exactly: each panel has one to edit it, until all is saved.
    expect(page.get_by_role("button", name="Edit", exact=True)).to_be_visible()
    found = DashboardFiles(work.folder / "dashboards").get("my-shop")
    assert (found.title, [panel.title for panel in found.panels]) == ("My shop", ["One"])


def test_a_dashboard_fits_a_phone_in_the_dark(
    opened: Opened, work_server: str, picture: Callable[[Page, str], object]
) -> None:
    page = opened("/dashboards/views", url=work_server, phone=True, dark=True)
    expect(page.locator("[data-number]")).to_have_text("240")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    picture(page, "dashboard-phone-dark")
    missing = opened("/dashboards/none", url=work_server)
    expect(missing.get_by_role("alert")).to_contain_text("DASHBOARD_MISSING")
