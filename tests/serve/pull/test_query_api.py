from __future__ import annotations

from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest

from penstock.log.rows import rows_of_bytes
from penstock.log.topic import TopicConfig
from penstock.serve.application import application
from penstock.serve.opened import opened_platform
from penstock.serve.platform import Platform
from penstock.serve.server import HttpServer


@pytest.fixture
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with opened_platform(tmp_path_factory.mktemp("home")) as found:
        found.log.create_topic("people", config=TopicConfig(cleanup="compact"))
        rows = rows_of_bytes([b"Ann", b"Bob"], keys=[b"a", b"b"], timestamps=[10, 20])
        found.log.append("people", 0, rows)
        found.log.create_topic("typed", schema=pa.schema([("x", pa.int64())]))
        found.log.append("typed", 0, pa.table({"x": [1, 2, 3]}))
        yield found


@pytest.fixture
def http(platform: Platform) -> Iterator[httpx.Client]:
    with (
        HttpServer(application(platform)) as server,
        httpx.Client(base_url=f"{server.url}/api/v1") as client,
    ):
        yield client


def test_a_select_is_answered_with_offsets(http: httpx.Client) -> None:
    asked = {"sql": "SELECT rowkey, value FROM people ORDER BY 1", "limit": 1}
    told = http.post("/query", json=asked).json()
    assert told["rows"] == [["a", "Ann"]]
    assert told["truncated"] is True
    assert told["offsets"] == {"people-0": 2}
    assert told["columns"][0] == {"name": "ROWKEY", "type": "VARCHAR"}
    then = http.post("/query", json={**asked, "as_of": 10, "limit": 9}).json()
    assert then["rows"] == [["a", "Ann"]]
    then = http.get("/query", params={"sql": str(asked["sql"]), "as_of": "1970-01-01"}).json()
    assert then["rows"] == []
    then = http.post("/query", json={"sql": asked["sql"], "as_of": {"people-0": 1}}).json()
    assert (then["rows"], then["offsets"]) == ([["a", "Ann"]], {"people-0": 1})


def test_an_answer_that_has_not_changed_is_not_sent_again(
    http: httpx.Client, platform: Platform
) -> None:
    params = {"sql": "SELECT max(x) AS m FROM typed"}
    tag = http.get("/query", params=params).headers["etag"]
    assert http.get("/query", params=params, headers={"If-None-Match": tag}).status_code == 304
    again = http.post("/query", json=params, headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    platform.log.append("typed", 0, pa.table({"x": [9]}))
    changed = http.get("/query", params=params, headers={"If-None-Match": tag})
    assert changed.json()["rows"] == [[9]]
    assert changed.headers["etag"] != tag
    assert "etag" not in http.get("/query", params={"sql": "SELECT now() AS t"}).headers


def test_answers_come_as_csv_and_arrow(http: httpx.Client) -> None:
    asked = {"sql": "SELECT 1 AS n, 'a,b' AS t, [1, 2] AS l, true AS b, NULL AS z"}
    told = http.post("/query", json=asked, headers={"Accept": "text/csv"})
    assert told.text == 'n,t,l,b,z\n1,"a,b","[1, 2]",true,\n'
    assert told.headers["penstock-offsets"] == "{}"
    told = http.post(
        "/query",
        json={"sql": "SELECT rowkey FROM people"},
        headers={"Accept": "application/vnd.apache.arrow.stream"},
    )
    assert pa.ipc.open_stream(told.content).read_all().to_pydict() == {"ROWKEY": ["a", "b"]}
    assert told.headers["penstock-offsets"] == '{"people-0":2}'


def test_values_without_a_word_in_json_are_text(http: httpx.Client) -> None:
    asked = (
        "SELECT 1.50::DECIMAL(9, 2) AS d, TIMESTAMPTZ '2026-01-31 12:00:00Z' AS t, 'NaN'::DOUBLE"
        " AS n, INTERVAL 1 DAY AS i, MAP {'a': 1} AS m, sum(x) AS s, 2::HUGEINT ** 70 > 0 AS u,"
        " 1180591620717411303424 AS h FROM typed WHERE x < 3"
    )
    (row,) = http.post("/query", json={"sql": asked}).json()["rows"]
    assert row[:3] == ["1.50", "2026-01-31T12:00:00Z", "nan"]
    assert "1 days" in row[3]
    assert row[4:] == [{"a": 1}, 3, True, "1180591620717411303424"]


def test_refusals_are_problems_with_their_place(http: httpx.Client) -> None:
    told = http.post("/query", json={"sql": "SELECT * FROM peple"})
    assert told.status_code == 400
    assert told.headers["content-type"] == "application/problem+json"
    assert told.json()["code"] == "QUERY_TABLE_MISSING"
    assert told.json()["hint"] == 'Did you mean "people"?'
    assert http.post("/query", json={"sql": "DROP TABLE x"}).json()["code"] == "QUERY_STATEMENT"
    assert http.post("/query", json={"sql": "SELECT 1", "limit": -1}).status_code == 422
    assert http.post("/query", json={}).status_code == 422
    for text in ('{"sql": "SELECT \\ud800"}', '{"sql": "SELECT \\u0000"}'):
        told = http.post("/query", content=text, headers={"Content-Type": "application/json"})
        assert told.json()["code"] in ("QUERY_SYNTAX", "REQUEST_UNFIT")
    wrong = http.post("/query", json={"sql": "SELECT 1", "as_of": "yesterday"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "TIME_FORMAT")


def test_tables_are_listed_and_looked_up(http: httpx.Client, platform: Platform) -> None:
    listed = {it["name"]: it for it in http.get("/tables").json()["items"]}
    assert listed["people"]["kind"] == "table"
    assert listed["people"]["key"] == ["ROWKEY"]
    assert listed["typed"]["columns"][0] == {"name": "x", "type": "int64"}
    found = http.get("/tables/people/rows", params={"key": "b"})
    assert found.json()["rows"][0][0] == "Bob"
    tag = {"If-None-Match": found.headers["etag"]}
    assert http.get("/tables/people/rows", params={"key": "b"}, headers=tag).status_code == 304
    platform.log.append("people", 0, rows_of_bytes([b"Bill"], keys=[b"b"]))
    found = http.get("/tables/people/rows", params={"key": "b"}, headers=tag)
    assert found.json()["rows"][0][0] == "Bill"
    assert http.get("/tables/people/rows", params={"key": "zz"}).json()["rows"] == []
    assert len(http.get("/tables/people/rows", params={"limit": 1}).json()["rows"]) == 1
    missing = http.get("/tables/nothing/rows", params={"key": "b"})
    assert (missing.status_code, missing.json()["code"]) == (404, "TABLE_MISSING")
    no_key = http.get("/tables/typed/rows", params={"key": "b"})
    assert (no_key.status_code, no_key.json()["code"]) == (400, "QUERY_NO_TABLE")
