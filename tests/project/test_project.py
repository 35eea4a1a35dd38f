from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.cli.main import run
from penstock.errors import JobError, UsageError
from penstock.inline.versions import InlineEngine
from penstock.jobs.definition import checkpoint_of
from penstock.jobs.definitions import definition_store
from penstock.jobs.submit import job_program
from penstock.jobs.upgrade import Choice
from penstock.project.project import Asked, Project, require_done
from penstock.sql.running import catch_up
from penstock.sql.session import SqlSession
from tests.jobs.test_takeover import Killed, killed_at
from tests.jobs.upgrades import Shop
from tests.project.projects import BEHIND, QUERIES, SHOP, Directory


def host(home: Path) -> None:
    """Let every job read what there is, the way a host would, without Spark."""
    store = definition_store(home)
    for name in ("shop", "behind"):
        if name in store.names():
            definition = store.get(name)
            program = job_program(home, definition)
            InlineEngine(home).run(program, checkpoint_of(home, definition))


def last_totals(home: Path, topic: str = "totals") -> dict[str, int]:
    return {row["region"]: row["total"] for row in Shop(home).records(topic)}


def test_a_project_is_planned_applied_and_then_there_is_nothing_to_do(project: Directory) -> None:
    project.write(shop_py=SHOP, behind_py=BEHIND, helpers_py="x = 1\n", test_shop_py="1 / 0\n")
    Shop(project.home).sell(1, 20)
    status, told, _ = project.cli("plan")
    assert (status, "shop    create   new in shop.py" in told) == (2, True)
    assert definition_store(project.home).names() == ()
    status, told, _ = project.cli("apply", "--yes")
    assert (status, told.splitlines()[-2:]) == (
        0,
        ['job "shop" is created', 'job "behind" is created'],
    )
    assert project.verdicts() == {"shop": "unchanged", "behind": "unchanged"}
    assert project.cli("plan")[0] == 0
    assert project.cli("apply")[:2] == (
        0,
        "job     verdict    why\nshop    unchanged  it is as it was\n"
        "behind  unchanged  it is as it was\nnothing to be changed\n",
    )
    assert {item.version for item in definition_store(project.home).all()} == {1}


def test_comments_settings_and_lines_that_move_keep_what_a_job_knows(project: Directory) -> None:
    project.write(shop_py=SHOP)
    Shop(project.home).sell(1, 20)
    project.apply()
    host(project.home)
    project.write(shop_py=f"# The shop.\n\n{SHOP}\n# That is all.\n")
    assert [change.does for change in project.apply()[0]] == ["unchanged"]
    project.write(penstock_toml="[jobs.shop]\nbatch_rows = 10\n")
    changes, told = project.apply()
    assert [change.does for change in changes] == ["compatible"]
    assert told == ['job "shop" is version 2 now (compatible)']
    assert definition_store(project.home).get("shop").settings.batch_rows == 10
    assert [change.does for change in project.apply()[0]] == ["unchanged"]


def test_a_bug_is_corrected_for_the_whole_history_and_who_reads_it_is_not_disturbed(
    project: Directory,
) -> None:
    project.write(shop_py=SHOP, behind_py=BEHIND)
    shop = Shop(project.home)
    shop.sell(1, 20, 30, 4, 50, 60)
    project.apply()
    host(project.home)
    assert last_totals(project.home) == {"north": 5, "south": 70, "west": 90}
    # Sales of up to 25 were not to count: the function is corrected, and all is made again.
    project.write(shop_py=SHOP.replace("LEAST = 0", "LEAST = 25"))
    changes, told = project.apply()
    assert [(change.name, change.does) for change in changes] == [
        ("shop", "rebuild"),
        ("behind", "unchanged"),
    ]
    assert told == ['job "shop" is version 2 now (rebuild)']
    assert last_totals(project.home) == {"north": 5, "south": 50, "west": 90}
    shop.sell(100)
    host(project.home)
    # A job behind it goes on where it was, and gets what has changed and nothing twice.
    copies = [(row["region"], row["total"]) for row in shop.records("copies")]
    assert last_totals(project.home, "copies") == {"north": 100, "south": 50, "west": 90}
    assert len(copies) == len(shop.records("totals"))
    assert definition_store(project.home).get("behind").version == 1
    assert len(shop.records("sales")) == 7


def test_from_now_on_is_a_choice_and_those_gone_are_removed_where_that_is_asked(
    project: Directory,
) -> None:
    project.write(shop_py=SHOP, behind_py=BEHIND)
    Shop(project.home).sell(1, 20)
    project.apply()
    host(project.home)
    project.write(shop_py=SHOP.replace("LEAST = 0", "LEAST = 25"))
    (project.place / "behind.py").unlink()
    changes, told = project.apply(Asked(Choice(from_now=True)))
    assert [change.does for change in changes] == ["compatible", "remove"]
    assert told == ['job "shop" is version 2 now (compatible)']
    assert "behind" in definition_store(project.home).names()
    assert project.cli("apply", "--prune")[1].endswith('job "behind" is removed; its topics stay\n')
    assert definition_store(project.home).names() == ("shop",)


def test_what_is_refused_is_left_as_it_is_and_said(project: Directory) -> None:
    Shop(project.home).sell(1)
    project.write(shop_py=SHOP, behind_py=BEHIND)
    project.apply()
    taking = BEHIND.replace('App("behind")', 'App("other")')
    project.write(other_py=taking)
    status, told, said = project.cli("apply")
    assert (status, "UPGRADE_REFUSED" in said) == (1, True)
    assert 'job "behind" writes "copies" already' in told
    assert "other" not in definition_store(project.home).names()
    with pytest.raises(JobError, match="UPGRADE_REFUSED"):
        require_done(project.apply()[0])
    project.write(queries_sql=QUERIES, other_py=taking.replace('"copies"', '"BY_REGION"'))
    with Project(project.place, project.home) as found:
        refused = {change.name: change.reason for change in found.plan() if change.does == "refuse"}
    assert "CTAS_BY_REGION" in refused["other"]


def test_a_directory_that_cannot_be_read_as_a_project_is_no_drift(project: Directory) -> None:
    assert project.cli("plan")[0] == 1
    with pytest.raises(UsageError, match="PROJECT_DIRECTORY"):
        Project(project.place, project.home)
    project.write(shop_py=SHOP, again_py=SHOP)
    status, _, said = project.cli("plan")
    assert (status, "PROJECT_JOB" in said) == (1, True)
    project.write(again_py="1 / 0\n")
    status, _, said = project.cli("plan")
    assert (status, "PROGRAM_FILE" in said) == (1, True)


def test_a_job_is_rolled_back_from_the_command_line(
    project: Directory, capsys: pytest.CaptureFixture[str]
) -> None:
    project.write(shop_py=SHOP)
    Shop(project.home).sell(1)
    project.cli("apply")
    project.write(shop_py=SHOP.replace("LEAST = 0", "LEAST = 9"))
    project.cli("apply")
    capsys.readouterr()
    assert run(["rollback", "shop", f"--home={project.home}"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == 'job "shop" is version 3 now, with the program of 1'
    project.write(shop_py=SHOP)
    assert project.verdicts() == {"shop": "unchanged"}
    assert run(["rollback", "shop", "--to=9", f"--home={project.home}"]) == 1


def orders(home: Path, *amounts: int) -> None:
    regions = ("north", "south", "west")
    with SqlSession(home) as session:
        for number, amount in enumerate(amounts):
            text = (
                f"INSERT INTO orders (region, amount) VALUES ('{regions[number % 3]}', {amount});"
            )
            list(session.run(text))


def totals_by_region(home: Path) -> dict[str, int]:
    with SqlSession(home) as session:
        catch_up(home, session.definitions().runnable)
    found: dict[str, int] = {}
    for row in Shop(home).records("BY_REGION"):
        found.pop(row["_key"].decode(), None)
        if row["value"] is not None:
            found[row["_key"].decode()] = json.loads(row["value"])["TOTAL"]
    return dict(sorted(found.items()))


def test_a_query_of_sql_is_built_again_and_takes_over(project: Directory) -> None:
    project.write(queries_sql=QUERIES)
    assert [change.does for change in project.apply()[0]] == ["create", "create"]
    orders(project.home, 1, 20, 30, 4, 50)
    assert totals_by_region(project.home) == {"north": 5, "south": 70, "west": 30}
    assert set(project.verdicts().values()) == {"unchanged"}
    project.write(queries_sql=QUERIES.replace("amount > 0", "amount > 25"))
    assert project.verdicts() == {"source:ORDERS": "unchanged", "source:BY_REGION": "rebuild"}
    changes, told = project.apply()
    assert changes[1].reason.startswith('"filter')
    assert told[0].startswith("source:BY_REGION was built from the log, and goes on as query")
    assert totals_by_region(project.home) == {"south": 50, "west": 30}
    orders(project.home, 100)
    assert totals_by_region(project.home) == {"north": 100, "south": 50, "west": 30}
    assert set(project.verdicts().values()) == {"unchanged"}
    assert not [name for name in Shop(project.home).topics() if ".v" in name]


@pytest.mark.parametrize("step", ["caught up", "decided", "taken over", "switched", "cleaned"])
def test_the_rebuild_of_a_query_cut_short_is_finished_by_the_next_one(
    project: Directory, step: str
) -> None:
    project.write(queries_sql=QUERIES)
    project.apply()
    orders(project.home, 1, 20, 30)
    assert totals_by_region(project.home) == {"north": 1, "south": 20, "west": 30}
    project.write(queries_sql=QUERIES.replace("amount > 0", "amount > 25"))
    with pytest.raises(Killed):
        project.apply(how=killed_at(step))
    project.apply()
    assert set(project.verdicts().values()) == {"unchanged"}
    orders(project.home, 100)
    assert totals_by_region(project.home) == {"north": 100, "west": 30}
    assert not [name for name in Shop(project.home).topics() if ".v" in name]
    project.apply()
    kept = {path.name for path in (project.home / "jobs").iterdir() if path.is_dir()}
    with SqlSession(project.home) as session:
        assert kept == set(session.definitions().queries)


def test_a_query_that_joins_a_table_knows_it_before_it_reads_its_history_again(
    project: Directory,
) -> None:
    joined = """
    CREATE STREAM visits (who STRING, page STRING)
      WITH (KAFKA_TOPIC='visits', VALUE_FORMAT='JSON', PARTITIONS=1);
    CREATE TABLE people (who STRING PRIMARY KEY, town STRING)
      WITH (KAFKA_TOPIC='people', VALUE_FORMAT='JSON', PARTITIONS=1);
    CREATE TABLE by_town AS SELECT p.town, COUNT(*) AS visits FROM visits v
      JOIN people p ON v.who = p.who WHERE v.page <> '/a' GROUP BY p.town;
    """
    project.write(queries_sql=joined)
    project.apply()
    with SqlSession(project.home) as session:
        list(session.run("INSERT INTO people (who, town) VALUES ('ann', 'Rome');"))
        for page in ("/a", "/b", "/c"):
            list(session.run(f"INSERT INTO visits (who, page) VALUES ('ann', '{page}');"))
        catch_up(project.home, session.definitions().runnable)
    assert towns(project.home) == {"Rome": 2}
    project.write(queries_sql=joined.replace("'/a'", "'/none'"))
    changes, _ = project.apply()
    assert [change.does for change in changes] == ["unchanged", "unchanged", "rebuild"]
    assert towns(project.home) == {"Rome": 3}


def towns(home: Path) -> dict[str, int]:
    rows = Shop(home).records("BY_TOWN")
    return {row["_key"].decode(): json.loads(row["value"])["VISITS"] for row in rows}
