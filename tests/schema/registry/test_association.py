from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from penstock.errors import RegistryError
from penstock.schema.registry.association import Asking, Association, Resource, Wish, wishes_of
from penstock.schema.registry.exchange import Retry
from penstock.schema.registry.port import SchemaRegistry
from penstock.schema.registry.registered import Registration
from penstock.schema.registry.remote import RemoteRegistry
from penstock.serve.registry.api import registry_app
from penstock.serve.server import HttpServer
from tests.schema.registry.kit import a_registry, record

A = record("a")
ORDERS = Resource("orders", "cluster", "orders-id")
BOUND = Association(ORDERS, "s")


@pytest.fixture(params=["near", "far"])
def registry(request: pytest.FixtureRequest) -> Iterator[SchemaRegistry]:
    near = a_registry()
    near.register("s", A)
    if request.param == "near":
        yield near
        return
    with HttpServer(registry_app(near)) as server:
        far = RemoteRegistry(server.url, retry=Retry(times=0))
        yield far
        far.close()


def code(act: Callable[[], object]) -> str:
    with pytest.raises(RegistryError) as caught:
        act()
    return caught.value.code


def test_a_topic_is_bound_to_a_subject_and_found_by_either(registry: SchemaRegistry) -> None:
    assert registry.associate([Wish(BOUND)]) == [BOUND]
    assert registry.associate([Wish(BOUND)]) == [BOUND]
    for asking in (
        Asking(name="orders", type="topic"),
        Asking(name="orders", namespace="cluster", type="topic", parts=("value",)),
        Asking(id="orders-id", type="topic"),
        Asking(subject="s", type="topic"),
    ):
        assert registry.associations(asking) == [BOUND]
    for asking in (
        Asking(name="orders", namespace="other", type="topic"),
        Asking(name="orders", type="topic", parts=("key",)),
    ):
        assert registry.associations(asking) == []
    registry.dissociate(Asking(id="orders-id", type="topic"))
    assert registry.associations(Asking(subject="s", type="topic")) == []


def test_a_schema_may_come_along(registry: SchemaRegistry) -> None:
    wish = Wish(Association(ORDERS, "new"), Registration(A.text))
    registry.associate([wish])
    assert registry.version("new").version == 1


def test_only_one_subject_is_bound_to_a_part_of_a_topic(registry: SchemaRegistry) -> None:
    registry.register("t", A)
    registry.associate([Wish(BOUND)])
    other = Wish(Association(ORDERS, "t"))
    assert code(lambda: registry.associate([other])) == "ASSOCIATION_TAKEN"
    registry.associate([Wish(Association(ORDERS, "t", "key"))])
    missing = Wish(Association(Resource("more", "c", "more"), "unheard"))
    assert code(lambda: registry.associate([missing])) == "ASSOCIATION_SUBJECT"


def test_a_strong_association_is_alone_and_takes_its_subject_along(
    registry: SchemaRegistry,
) -> None:
    registry.associate([Wish(Association(ORDERS, "s", lifecycle="STRONG"))])
    again = Wish(Association(Resource("more", "c", "more"), "s"))
    assert code(lambda: registry.associate([again])) == "ASSOCIATION_ALONE"
    registry.dissociate(Asking(id="orders-id", type="topic"), with_subjects=True)
    assert registry.subjects() == []


def test_what_is_frozen_stays(registry: SchemaRegistry) -> None:
    registry.associate([Wish(Association(ORDERS, "s", frozen=True))])
    asking = Asking(id="orders-id", type="topic")
    assert code(lambda: registry.dissociate(asking)) == "ASSOCIATION_FROZEN"


@pytest.mark.parametrize(
    "found",
    [
        {},
        {"resourceName": "orders"},
        {"resourceName": "orders", "associations": ["s"]},
        {"resourceName": "orders", "associations": [{}]},
        {"resourceName": "orders", "associations": [{"subject": "s", "lifecycle": "SOME"}]},
        {"resourceName": 5, "associations": [{"subject": "s"}]},
    ],
)
def test_what_says_too_little_is_refused(found: dict[str, object]) -> None:
    assert code(lambda: wishes_of(found, lambda _: None)) == "ASSOCIATION_FORM"
