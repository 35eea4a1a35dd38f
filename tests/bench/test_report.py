from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from bench.catalog import NAMES, RESULTS
from bench.group_chart import Group, draw_groups
from bench.nexmark.engines import LABELS
from bench.report import write
from bench.result import Target, load
from tests.bench.test_result import a_measure, a_result


def test_the_page_shows_numbers_ratios_and_targets(tmp_path: Path) -> None:
    measure = a_measure(baseline=(100.0, 100.0, 200.0), target=Target("at least", 0.5))
    page = write([a_result(measure)], tmp_path).read_text()
    assert "| x | MB/s | 60 (50 to 90) | 100 (100 to 200) | 0.5 (0.3 to 0.9) |" in page
    assert "at least 0.5 | yes |" in page


def test_the_page_tells_of_a_target_that_is_missed(tmp_path: Path) -> None:
    fine = a_measure(label="fine", target=Target("at least", 10))
    missed = a_measure(label="missed", ours=(5.0,), target=Target("at least", 10))
    page = write([a_result(fine, missed)], tmp_path).read_text()
    summary = page[page.index("## The targets") : page.index("## Appending")]
    assert "missed" in summary
    assert "**no**" in summary
    assert "fine" not in summary


def test_the_plots_are_drawn_and_linked(tmp_path: Path) -> None:
    compared = a_measure(label="a < b", baseline=(1.0, 2.0, 3.0))
    page = write([a_result(compared, a_measure(), a_measure(label="y"))], tmp_path)
    plots = re.findall(r"\]\((img/[^)]+)\)", page.read_text())
    assert plots == ["img/append.svg", "img/append-0.svg"]
    texts = [element.text for element in ElementTree.parse(tmp_path / plots[0]).iter()]
    assert "a < b [MB/s]" in texts


def test_labels_of_bars_have_the_room_they_need(tmp_path: Path) -> None:
    few, many = "a" * 10, "a" * 120
    widths = []
    for label in (few, many):
        write([a_result(a_measure(label=label, baseline=(1.0,)))], tmp_path)
        picture = ElementTree.parse(tmp_path / "img" / "append.svg").getroot()
        widths.append(int(picture.attrib["viewBox"].split()[2]))
        ends = [float(it.attrib["x"]) for it in picture.iter() if it.get("text-anchor") == "end"]
        assert min(ends) > 6 * len(label)
    assert widths[0] < widths[1]


def test_each_kind_of_bar_has_a_colour_of_its_own() -> None:
    kinds = tuple(LABELS.values())
    groups = [Group("q0", dict.fromkeys(kinds, 1000.0))]
    drawn = ElementTree.fromstring(draw_groups("engines", groups, kinds))
    bars = [it.get("fill") for it in drawn.iter() if it.get("width") == "10"]
    assert len(set(bars)) == len(bars) == len(kinds)


def test_the_numbers_we_publish_are_of_full_size() -> None:
    kept = [load(path) for path in sorted(RESULTS.glob("*.json"))]
    assert [result.name for result in kept if result.name not in NAMES] == []
    assert [result.name for result in kept if result.scale != "full"] == []
