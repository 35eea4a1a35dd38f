from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from penstock.errors import RegistryError
from penstock.serve.registry.request import version_named
from tests.serve.kit import Served

A = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]}
B = {"type": "record", "name": "R", "fields": [{"name": "b", "type": "string"}]}
V1 = "application/vnd.schemaregistry.v1+json"


def body(schema: object, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # what JSON holds
    return {"schema": json.dumps(schema), **more}


def told(response: httpx.Response) -> tuple[int, int]:
    assert set(response.json()) == {"error_code", "message"}
    return response.status_code, response.json()["error_code"]


def test_answers_come_in_the_registrys_content_type_or_the_one_asked_for(served: Served) -> None:
    assert served.http.get("/subjects").headers["content-type"] == V1
    for accept, given in [
        ("application/json", "application/json"),
        ("application/vnd.schemaregistry+json;q=0.9", "application/vnd.schemaregistry+json"),
        ("text/html, application/json;q=0.5", "application/json"),
        ("*/*", V1),
    ]:
        response = served.http.get("/subjects", headers={"Accept": accept})
        assert response.headers["content-type"] == given
    assert told(served.http.get("/subjects", headers={"Accept": "text/html"})) == (406, 406)


@pytest.mark.parametrize(
    "content_type",
    [
        V1,
        "application/vnd.schemaregistry+json",
        "application/json; charset=utf-8",
        "application/octet-stream",
    ],
)
def test_bodies_of_every_content_type_are_read(served: Served, content_type: str) -> None:
    content = json.dumps(body(A))
    headers = {"Content-Type": content_type}
    response = served.http.post("/subjects/s/versions", content=content, headers=headers)
    assert response.json()["id"] == 1


def test_other_bodies_are_refused_in_the_registrys_own_form(served: Served) -> None:
    post = served.http.post
    html = {"Content-Type": "text/html"}
    assert told(post("/subjects/s/versions", content="x", headers=html)) == (415, 415)
    assert told(post("/subjects/s/versions", content="{")) == (400, 400)
    assert told(post("/subjects/s/versions")) == (400, 400)
    wrongs: list[object] = [
        [],
        {"schema": 5},
        body(A, references={"a": 1}),
        body(A, references=[{"name": "x"}]),
        body(A, metadata="m"),
        body(A, id="1"),
    ]
    for wrong in wrongs:
        assert told(post("/subjects/s/versions", json=wrong)) == (422, 422)
    assert told(served.http.put("/mode", json={"mode": 5})) == (422, 422)
    assert told(post("/subjects/s/versions", json=body(A, schemaType="XML"))) == (422, 42201)


def test_addresses_that_nobody_has_are_refused_in_the_same_form(served: Served) -> None:
    assert told(served.http.get("/nowhere")) == (404, 404)
    assert told(served.http.put("/subjects")) == (405, 405)
    assert told(served.http.get("/schemas/ids/one")) == (404, 404)
    assert told(served.http.get("/subjects?limit=many")) == (404, 404)


@pytest.mark.parametrize("word", ["true", "True", "TRUE"])
def test_flags_are_read_in_any_case(served: Served, word: str) -> None:
    served.http.post("/subjects/s/versions", json=body(A))
    served.http.delete("/subjects/s")
    assert served.http.get("/subjects").json() == []
    assert served.http.get(f"/subjects?deleted={word}").json() == ["s"]
    assert served.http.get(f"/subjects?deletedOnly={word}").json() == ["s"]
    assert served.http.get("/subjects?deleted=no").json() == []


def test_a_subject_may_have_any_letters(served: Served) -> None:
    for name in ("a/b", "a b", "ä%2Fß", "a?b#c", "100%"):
        path = f"/subjects/{quote(name, safe='')}/versions"
        assert served.http.post(path, json=body(A)).json()["id"] == 1
        assert served.registry.subjects(prefix=name) == [name]


def test_long_lists_are_given_in_pages(served: Served) -> None:
    for number in range(5):
        served.http.post(f"/subjects/s{number}/versions", json=body(A))
    get = served.http.get
    assert get("/subjects?offset=1&limit=2").json() == ["s1", "s2"]
    assert get("/subjects?offset=4&limit=-1").json() == ["s4"]
    assert get("/schemas/ids/1/subjects?offset=3").json() == ["s3", "s4"]
    assert len(get("/schemas/ids/1/versions?limit=2").json()) == 2
    assert [one["subject"] for one in get("/schemas?limit=1").json()] == ["s0"]
    assert get("/subjects?subjectPrefix=s3").json() == ["s3"]


def test_a_version_is_told_with_all_that_is_kept(served: Served) -> None:
    metadata = {"properties": {"owner": "ann"}}
    rules = {"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL"}]}
    wanted = body({"type": "object"}, schemaType="JSON", metadata=metadata, ruleSet=rules)
    answer = served.http.post("/subjects/s/versions", json=wanted).json()
    assert set(answer) == {"id", "version", "guid"}
    found = served.http.get("/subjects/s/versions/latest").json()
    assert found["ts"] > 0
    assert found | {"ts": 0} == {
        "subject": "s",
        "version": 1,
        "id": 1,
        "guid": answer["guid"],
        "schemaType": "JSON",
        "metadata": metadata,
        "ruleSet": rules,
        "schema": '{"type":"object"}',
        "ts": 0,
        "deleted": False,
    }
    assert served.http.get("/schemas/ids/1?fetchMaxId=true").json()["maxId"] == 1
    assert served.http.get("/schemas/ids/1/schema").text == '{"type":"object"}'
    assert served.http.get(f"/schemas/guids/{answer['guid']}/ids").json() == [
        {"context": ".", "id": 1}
    ]


def test_why_schemas_do_not_fit_is_told_where_it_is_asked_for(served: Served) -> None:
    served.http.post("/subjects/s/versions", json=body(A))
    path = "/compatibility/subjects/s/versions"
    assert served.http.post(path, json=body(B)).json() == {"is_compatible": False}
    verbose = served.http.post(f"{path}/latest?verbose=True", json=body(B)).json()
    assert not verbose["is_compatible"]
    assert any("READER_FIELD_MISSING_DEFAULT_VALUE" in one for one in verbose["messages"])
    assert served.http.post(f"{path}/1?verbose=true", json=body(A)).json() == {
        "is_compatible": True,
        "messages": [],
    }
    wrong = {"schema": "no schema"}
    assert told(served.http.post(path, json=wrong)) == (422, 42201)
    broken = served.http.post(f"{path}?verbose=true", json=wrong).json()
    assert not broken["is_compatible"]
    assert "Invalid schema" in broken["messages"][0]
    unheard = "/compatibility/subjects/unheard/versions"
    assert served.http.post(f"{unheard}/latest", json=body(A)).json() == {"is_compatible": True}
    assert told(served.http.post(f"{unheard}/1", json=body(A))) == (404, 40401)


def test_settings_are_changed_in_part_and_answered_as_they_were_sent(served: Served) -> None:
    put, get = served.http.put, served.http.get
    assert put("/config", json={"compatibility": "full"}).json() == {"compatibility": "full"}
    put("/config", json={"normalize": True})
    assert get("/config").json() == {"compatibilityLevel": "FULL", "normalize": True}
    assert told(get("/config/s")) == (404, 40408)
    assert get("/config/s?defaultToGlobal=true").json()["compatibilityLevel"] == "FULL"
    assert put("/mode/s", json={"mode": "READONLY"}).json() == {"mode": "READONLY"}
    assert put("/mode/s", json={"mode": None}).json() == {"mode": None}
    assert told(get("/mode/s")) == (404, 40409)


def test_an_address_with_a_context_is_about_that_context(served: Served) -> None:
    served.http.post("/subjects/s/versions", json=body(A))
    inside = "/contexts/.lab"
    assert served.http.post(f"{inside}/subjects/s/versions", json=body(B)).json()["id"] == 1
    assert served.http.get(f"{inside}/subjects").json() == [":.lab:s"]
    assert served.http.get("/subjects?subjectPrefix=:.lab:").json() == [":.lab:s"]
    assert json.loads(served.http.get(f"{inside}/schemas/ids/1").json()["schema"]) == B
    assert json.loads(served.http.get("/schemas/ids/1").json()["schema"]) == A
    served.http.put(f"{inside}/config", json={"compatibility": "NONE"})
    assert served.http.post(f"{inside}/subjects/s/versions", json=body(A)).json()["id"] == 2
    assert served.http.get("/contexts").json() == [".", ".lab"]
    assert served.http.get("/contexts/").json() == [".", ".lab"]


def test_a_defect_is_told_without_its_insides(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        message = "secret"
        raise KeyError(message)

    monkeypatch.setattr(served.registry, "subjects", fail)
    response = served.http.get("/subjects")
    assert told(response) == (500, 50001)
    assert "secret" not in response.text


def test_topics_go_by_their_names_unless_they_are_associated(served: Served) -> None:
    path = "/associations/resources/-/orders?resourceType=topic&associationType=value"
    assert served.http.get(path).json() == []
    served.http.post("/subjects/s/versions", json=body(A))
    wanted = {"resourceName": "orders", "resourceId": "1", "associations": [{"subject": "s"}]}
    made = served.http.post("/associations", json=wanted).json()
    assert made["associations"] == [
        {"subject": "s", "associationType": "value", "lifecycle": "WEAK", "frozen": False}
    ]
    assert [one["subject"] for one in served.http.get(path).json()] == ["s"]
    assert served.http.delete("/associations/resources/1").status_code == 204
    assert served.http.put(
        "/associations/resources/2", json=wanted | {"resourceId": None}
    ).is_success
    assert served.http.get("/associations/resources/2").json()[0]["resourceId"] == "2"


@pytest.mark.parametrize("text", ["0", "-2", "one", "", "2147483648", "1.0"])
def test_a_version_is_a_number_from_one_or_the_last(text: str) -> None:
    with pytest.raises(RegistryError, match="VERSION_NUMBER"):
        version_named(text)
    assert version_named("7") == 7
    assert version_named("Latest") is version_named("-1") is None
