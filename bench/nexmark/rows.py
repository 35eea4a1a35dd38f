"""Persons, auctions and bids by the numbers of their events, as Nexmark's own generator has them.

Of every 50 events the first is a person, the next 3 are auctions, the other 46 bids. An id follows
from the number of the event, so that rows of any part can be made without those before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.nexmark.schemas import AUCTION, BID, PERSON, SIDE
from bench.nexmark.words import Numbers, chosen, fillers, words

EPOCH = 50
PERSONS = 1
AUCTIONS = 3
FIRST_ID = 1000
FIRST_CATEGORY = 10
CATEGORIES = 5
START_MS = 1_600_000_000_000
"""The time of the first event: a whole second, far from any change of day."""
EVENTS_PER_MS = 10

_HOT_GROUP = 100
"""Of so many persons or auctions in a row, one is hot."""
_HOT_AUCTIONS = 2
_HOT_BIDDERS = 4
_HOT_SELLERS = 4
_HOT_CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
_CHANNELS = 10_000
_ACTIVE_PERSONS = 1000
_AUCTIONS_IN_FLIGHT = 100
_LEAD = 10
"""Ids that far ahead of the last one are named, too: events may seem to have changed places."""
_SIDE_ROWS = 10_000
_FIRST_NAMES = (
    *("Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah"),
    *("Deiter", "Walter"),
)
_LAST_NAMES = (
    *("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"),
)
_CITIES = (
    *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond"),
    *("Seattle", "Kent", "Cheyenne"),
)
_STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")


def times_of(events: Numbers) -> Numbers:
    """Give the milliseconds at which events happen: 10,000 a second, evenly."""
    return START_MS + events // EVENTS_PER_MS


def persons(random: np.random.Generator, events: Numbers) -> pa.Table:
    """Give the persons of some events."""
    count = len(events)
    name = pc.binary_join_element_wise(
        chosen(random, count, _FIRST_NAMES), chosen(random, count, _LAST_NAMES), " "
    )
    email = pc.binary_join_element_wise(
        words(random, count, 7),
        pc.binary_join_element_wise(words(random, count, 5), "com", "."),
        "@",
    )
    digits = np.char.zfill(random.integers(0, 10_000, (4, count)).astype(str), 4)
    card = pc.binary_join_element_wise(*(pa.array(part) for part in digits), " ")
    city, state = chosen(random, count, _CITIES), chosen(random, count, _STATES)
    left = np.full(count, 200 - 8)
    for column in (name, email, card, city, state):
        left -= _lengths(column)
    extra = fillers(random, left)
    columns = [_last_person(events) + FIRST_ID, name, email, card, city, state, times_of(events)]
    return _table(PERSON, [*columns, extra])


def auctions(random: np.random.Generator, events: Numbers) -> pa.Table:
    """Give the auctions of some events; three in four belong to a hot seller."""
    count = len(events)
    hot = random.integers(0, _HOT_SELLERS, count) > 0
    last = _last_person(events)
    seller = np.where(hot, last // _HOT_GROUP * _HOT_GROUP, _any_person(random, last))
    name, description = words(random, count, 20), words(random, count, 100)
    first_bid = _prices(random, count)
    begins = times_of(events)
    horizon = _AUCTIONS_IN_FLIGHT * EPOCH // AUCTIONS // EVENTS_PER_MS
    extra = fillers(random, 500 - 48 - _lengths(name) - _lengths(description))
    columns = [
        *(_last_auction(events) + FIRST_ID, name, description),
        *(first_bid, first_bid + _prices(random, count)),
        *(begins, begins + 1 + random.integers(0, 2 * horizon, count)),
        *(seller + FIRST_ID, FIRST_CATEGORY + random.integers(0, CATEGORIES, count), extra),
    ]
    return _table(AUCTION, columns)


def bids(random: np.random.Generator, events: Numbers, channels: pa.Table) -> pa.Table:
    """Give the bids of some events: half for a hot auction, three in four by a hot bidder."""
    count = len(events)
    last = _last_auction(events)
    first = np.maximum(last - _AUCTIONS_IN_FLIGHT, 0)
    any_auction = first + _below(random, last - first + 1 + _LEAD)
    hot = random.integers(0, _HOT_AUCTIONS, count) > 0
    auction = np.where(hot, last // _HOT_GROUP * _HOT_GROUP, any_auction)
    last = _last_person(events)
    hot = random.integers(0, _HOT_BIDDERS, count) > 0
    bidder = np.where(hot, last // _HOT_GROUP * _HOT_GROUP + 1, _any_person(random, last))
    named = len(_HOT_CHANNELS)
    place = np.where(
        random.integers(0, 2, count) > 0,
        random.integers(0, named, count),
        random.integers(named, channels.num_rows, count),
    )
    way = channels.take(pa.array(place)).combine_chunks()
    extra = fillers(random, np.full(count, 100 - 32))
    columns = [auction + FIRST_ID, bidder + FIRST_ID, _prices(random, count)]
    return _table(BID, [*columns, way["channel"], way["url"], times_of(events), extra])


def channels(random: np.random.Generator) -> pa.Table:
    """Give the channels that bids come by, the hot ones first, each with its address."""
    hot, count = len(_HOT_CHANNELS), len(_HOT_CHANNELS) + _CHANNELS
    parts = [words(random, count, 5, gap=b"_") for _ in range(3)]
    path = pc.binary_join_element_wise(*parts, "/")
    address = pc.binary_join_element_wise(
        "https://www.nexmark.com", path, "item.htm?query=1", "/"
    ).to_pylist()
    with_id = random.integers(0, 10, count) > 0
    for number in range(_CHANNELS):
        if with_id[hot + number]:
            address[hot + number] += f"&channel_id={_reversed_bits(number)}"
    names = [*_HOT_CHANNELS, *(f"channel-{number}" for number in range(_CHANNELS))]
    return pa.table({"channel": pa.array(names), "url": pa.array(address)})


def side_rows() -> pa.Table:
    """Give the table of q13: each number and its digits."""
    keys = range(_SIDE_ROWS)
    return pa.table([pa.array(keys), pa.array([str(key) for key in keys])], schema=SIDE)


def _last_person(events: Numbers) -> Numbers:
    """Give the person made last before an event, or by it, counted from 0."""
    return events // EPOCH * PERSONS


def _last_auction(events: Numbers) -> Numbers:
    """Give the auction made last before an event, or by it, counted from 0."""
    within = np.clip(events % EPOCH - PERSONS, -1, AUCTIONS - 1)
    return events // EPOCH * AUCTIONS + within


def _any_person(random: np.random.Generator, last: Numbers) -> Numbers:
    active = np.minimum(last + 1, _ACTIVE_PERSONS)
    return last + 1 - active + _below(random, active + _LEAD)


def _below(random: np.random.Generator, limits: Numbers) -> Numbers:
    return (random.random(len(limits)) * limits).astype(np.int64)


def _prices(random: np.random.Generator, count: int) -> Numbers:
    """Give prices in cents, as many between 1 and 10 as between 100,000 and a million."""
    return np.round(10.0 ** (random.random(count) * 6) * 100).astype(np.int64)


def _lengths(column: pa.Array) -> Numbers:
    found: Numbers = pc.utf8_length(column).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _reversed_bits(number: int) -> int:
    """Turn 32 bits around, as a signed number without its sign."""
    turned = int(f"{number:032b}"[::-1], 2)
    return turned if turned < 2**31 else 2**32 - turned


def _table(schema: pa.Schema, columns: list[Any]) -> pa.Table:
    arrays = []
    for field, column in zip(schema, columns, strict=True):
        array = pa.array(column) if isinstance(column, np.ndarray) else column
        arrays.append(array.cast(field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
