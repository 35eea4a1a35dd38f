from __future__ import annotations

import httpx

from penstock.log.record import TopicPartition
from penstock.schema.codec.schemas import SchemaText
from penstock.serve.platform import Platform


def test_a_topic_is_made_described_changed_and_deleted(api: httpx.Client) -> None:
    made = api.post(
        "/topics",
        json={"name": "visits", "partitions": 2, "settings": {"retention": "7d"}},
    )
    assert made.status_code == 201
    assert made.json()["settings"]["retention"] == 604800
    shown = api.get("/topics/visits")
    assert [part["end"] for part in shown.json()["partitions"]] == [0, 0]
    tag = shown.headers["etag"]
    assert tag == made.headers["etag"]
    assert api.get("/topics/visits", headers={"If-None-Match": tag}).status_code == 304
    change = {"settings": {"retention": None, "cleanup": "delete"}}
    done = api.patch("/topics/visits", json=change, headers={"If-Match": tag})
    assert done.json()["settings"]["retention"] is None
    late = api.patch("/topics/visits", json=change, headers={"If-Match": tag})
    assert (late.status_code, late.json()["code"]) == (412, "TAG_DIFFERS")
    assert api.delete("/topics/visits").status_code == 204
    assert api.get("/topics/visits").json()["code"] == "TOPIC_MISSING"


def test_topics_are_listed_in_pages(api: httpx.Client) -> None:
    for name in ("c", "a", "b"):
        api.post("/topics", json={"name": name}).raise_for_status()
    first = api.get("/topics", params={"limit": 2}).json()
    rest = api.get("/topics", params={"limit": 2, "after": first["next"]}).json()
    assert [topic["name"] for topic in first["items"] + rest["items"]] == ["a", "b", "c"]
    assert rest["next"] is None


def test_columns_are_text_and_never_a_file(api: httpx.Client) -> None:
    refused = api.post("/topics", json={"name": "typed", "columns": "evil.py"})
    assert (refused.status_code, refused.json()["code"]) == (422, "SCHEMA_TEXT")


def test_records_are_written_and_looked_through_from_the_newest_on(api: httpx.Client) -> None:
    api.post("/topics", json={"name": "visits", "partitions": 3}).raise_for_status()
    records = [
        {
            "key": f"user-{n % 5}",
            "value": {"page": n},
            "timestamp": 1000 + n,
            "headers": [["n", str(n)]],
        }
        for n in range(40)
    ]
    done = api.post("/topics/visits/records", json={"records": records, "atomic": True})
    assert done.status_code == 201
    assert len(done.json()["records"]) == 40
    seen, after = [], None
    while True:
        params = {"limit": 7, "newest": True} | ({"after": after} if after else {})
        page = api.get("/topics/visits/records", params=params).json()
        seen += [row["value"]["page"] for row in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == list(range(39, -1, -1))
    oldest = api.get("/topics/visits/records", params={"limit": 3}).json()["items"]
    assert [row["value"]["page"] for row in oldest] == [0, 1, 2]
    assert oldest[0]["headers"] == [["n", "0"]]


def test_records_are_found_by_key_by_text_and_by_time(api: httpx.Client) -> None:
    api.post("/topics", json={"name": "visits"}).raise_for_status()
    values = [
        {"key": k, "value": v, "timestamp": f"2026-03-0{n}T00:00:00Z"}
        for n, (k, v) in enumerate(
            [("a", "one"), ("b", "two"), ("a", {"base64": "/w=="}), (None, None)], 1
        )
    ]
    api.post("/topics/visits/records", json={"records": values}).raise_for_status()

    def found(**params: str) -> list[object]:
        page = api.get("/topics/visits/records", params=params).json()
        return [row["value"] for row in page["items"]]

    assert found(key="a") == ["one", {"base64": "/w=="}]
    assert found(text="TW") == ["two"]
    assert found(**{"from": "2026-03-03"}) == [{"base64": "/w=="}, None]
    assert found(**{"from": "1", "to": "3"}) == ["two", {"base64": "/w=="}]
    wrong = api.get("/topics/visits/records", params={"from": "soon"})
    assert (wrong.status_code, wrong.json()["code"]) == (400, "PLACE_FORMAT")
    cut = api.get("/topics/visits/records", params={"after": "%%"})
    assert (cut.status_code, cut.json()["code"]) == (400, "CURSOR_WRONG")


def test_a_typed_topic_takes_rows_that_fit_all_or_none(api: httpx.Client) -> None:
    api.post("/topics", json={"name": "clicks", "columns": "user bigint not null, at timestamp"})
    good = {"value": {"user": 1, "at": "2026-01-01T00:00:00Z"}}
    bad = {"value": {"usr": 1}}
    refused = api.post("/topics/clicks/records", json={"records": [good, bad]})
    assert refused.json()["code"] == "RECORD_UNFIT"
    assert "record 1" in refused.json()["detail"]
    api.post("/topics/clicks/records", json={"records": [good]}).raise_for_status()
    (row,) = api.get("/topics/clicks/records").json()["items"]
    assert row["value"] == {"user": 1, "at": "2026-01-01T00:00:00+00:00"}


def test_values_with_the_id_of_a_schema_are_decoded(api: httpx.Client, platform: Platform) -> None:
    text = '{"type": "record", "name": "Pay", "fields": [{"name": "sum", "type": "long"}]}'
    platform.registry.register("pay-value", SchemaText(text))
    api.post("/topics", json={"name": "pay"}).raise_for_status()
    body = {"records": [{"value": {"sum": 5}}], "format": "avro"}
    api.post("/topics/pay/records", json=body).raise_for_status()
    broken = {"records": [{"value": {"base64": "AAAAAAH/"}}]}
    api.post("/topics/pay/records", json=broken).raise_for_status()
    good, bad = api.get("/topics/pay/records").json()["items"]
    assert (good["value"], good["problem"]) == ({"sum": 5}, "")
    assert bad["value"] == {"base64": "AAAAAAH/"}
    assert bad["problem"]


def test_sql_is_answered_as_json(api: httpx.Client) -> None:
    script = (
        "CREATE STREAM s (id BIGINT KEY, page VARCHAR) WITH (KAFKA_TOPIC='s', PARTITIONS=1,"
        " VALUE_FORMAT='JSON');"
        "INSERT INTO s (id, page) VALUES (1, 'home'); SHOW STREAMS;"
    )
    answered = api.post("/sql", json={"sql": script})
    assert answered.status_code == 200, answered.text
    assert answered.json()["answers"][-1]["rows"]
    assert api.post("/sql", json={"sql": "SELEC 1;"}).json()["code"].startswith("SQL")
    assert "SELECT" in [word.upper() for word in api.get("/sql/words").json()]
    lines = api.post("/sql/lines", json={"sql": "SHOW STREAMS;"}).text.splitlines()
    assert len(lines) == 2


def test_groups_are_listed_shown_and_set(api: httpx.Client, platform: Platform) -> None:
    api.post("/topics", json={"name": "t"}).raise_for_status()
    api.post("/topics/t/records", json={"records": [{"value": "x"}] * 5}).raise_for_status()
    platform.log.commit("readers", {TopicPartition("t", 0): 2})
    assert api.get("/groups").json()["items"] == [
        {"group": "readers", "members": 0, "topics": ["t"], "lag": 3}
    ]
    moved = api.post("/groups/readers/reset", json={"topic": "t", "to": "earliest"}).json()
    assert moved == [{"topic": "t", "partition": 0, "before": 2, "after": 0}]
    assert api.get("/groups/readers").json()["partitions"][0]["lag"] == 5
    assert api.get("/groups/nobody").json()["code"] == "GROUP_MISSING"
    assert api.delete("/groups/readers").status_code == 204


def test_the_rest_answers_for_an_empty_home(api: httpx.Client) -> None:
    for path in ("/jobs", "/alerts", "/schemas", "/dead-letters", "/lineage"):
        answer = api.get(path)
        assert answer.status_code == 200, (path, answer.text)
    assert api.get("/jobs/none").json()["code"] == "JOB_MISSING"
    assert api.get("/dead-letters/none").json()["code"] == "DEAD_TOPIC"
    assert api.post("/jobs/none/pause").json()["code"] == "JOB_MISSING"
    assert api.get("/schemas/none/diff").json()["code"] == "SUBJECT_MISSING"
