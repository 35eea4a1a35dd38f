from __future__ import annotations

from penstock.model.site import user_frame, user_site


def test_the_nearest_caller_outside_the_house_is_named() -> None:
    site = user_site()
    file, _, line = site.partition(":")
    assert file == "test_site.py"
    assert int(line) > 0


def test_what_is_generated_for_the_house_is_not_the_user() -> None:
    space: dict[str, object] = {"__name__": "penstock.made_up", "look": user_site}
    exec("def ask():\n    return look()\n", space)
    ask = space["ask"]
    assert callable(ask)
    assert str(ask()).startswith("test_site.py:")


def test_a_package_with_a_similar_name_is_the_user() -> None:
    space: dict[str, object] = {"__name__": "penstock_jobs.daily", "look": user_frame}
    exec("def ask():\n    return look()\n", space)
    ask = space["ask"]
    assert callable(ask)
    assert ask().f_globals["__name__"] == "penstock_jobs.daily"
