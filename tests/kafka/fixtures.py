"""Fixtures for tests of every folder that need Kafka; `tests/conftest.py` hands them on."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.kafka.cluster import (
    Brokers,
    brokers_of_ones_own,
    missing,
    run_folder,
    shared_broker,
    three_brokers,
)
from tests.kafka.emptied import EmptiedBroker


@pytest.fixture(scope="session")
def kafka() -> Brokers:
    """One broker that all tests of a run share: make topics of your own, and leave it whole."""
    if missing():
        pytest.skip(missing())
    return shared_broker()


@pytest.fixture
def kafka_cluster() -> Iterator[Brokers]:
    """Three brokers, for this test alone as long as it lasts; it may hurt them."""
    if missing():
        pytest.skip(missing())
    with three_brokers() as brokers:
        yield brokers


@pytest.fixture(scope="session")
def own_broker() -> Iterator[EmptiedBroker]:
    """One broker of this process, which its tests have one after the other."""
    if missing():
        pytest.skip(missing())
    # Below the run's folder: it is ended with the others if the run is killed.
    with brokers_of_ones_own(run_folder() / f"own-{os.getpid()}", 1) as brokers:
        yield EmptiedBroker(brokers.address)


@pytest.fixture
def emptied_broker(own_broker: EmptiedBroker) -> EmptiedBroker:
    """A broker without topics and groups."""
    own_broker.empty()
    return own_broker
