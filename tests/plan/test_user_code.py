from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
from penstock.plan.user_code import by_name, by_text

class Mine:
    def add(self, a):
        return a

def twice(row):
    return row * 2

print(by_name(twice), by_name(Mine()), by_name(len), by_text(twice), by_text(Mine()))
"""


def test_a_file_is_known_by_its_name_however_it_is_started(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SCRIPT)
    said = [
        subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, check=True, text=True
        ).stdout
        for words in (["shop.py"], ["-c", "import shop"], ["-m", "shop"])
    ]
    assert len(set(said)) == 1
    assert "('user', 'shop', 'twice')" in said[0]
    assert "('user', 'shop', 'Mine')" in said[0]


def test_comments_and_layout_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SCRIPT)
    tidy = SCRIPT.replace("row * 2", "( row*2 )  # doubled").replace("\n\ndef", "\n\n\n\ndef")
    (tmp_path / "tidy").mkdir()
    (tmp_path / "tidy" / "shop.py").write_text(tidy)
    said = [
        subprocess.run(
            [sys.executable, "shop.py"], cwd=folder, capture_output=True, check=True, text=True
        ).stdout
        for folder in (tmp_path, tmp_path / "tidy")
    ]
    assert said[0] == said[1]
