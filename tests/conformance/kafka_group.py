"""Groups that come about and change as a case tells, and what they were assigned."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from penstock.log.assign.subscription import NO_GENERATION, Assignment, Subscription
from penstock.log.record import TopicPartition
from tests.conformance.kafka_assign import assignor_of, members_of, settle, transferring

Fields: TypeAlias = Mapping[str, Any]

_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_RANDOM_GROUPS = 100


@dataclass(frozen=True, slots=True)
class Step:
    """One rebalance: who came with what, and what each round gave."""

    topics: Mapping[str, int]
    members: Mapping[str, Subscription]
    rounds: Sequence[Assignment]
    transferring: Mapping[str, str]

    @property
    def result(self) -> Assignment:
        """What the members hold in the end."""
        return self.rounds[-1]


@dataclass(frozen=True, slots=True)
class Scenario:
    """The rebalances of one group, in order."""

    steps: tuple[Step, ...]


class _Group:
    """A group whose members come back with what they held last."""

    def __init__(self, assignor: str) -> None:
        self._assignor = assignor
        self._held: dict[str, tuple[TopicPartition, ...]] = {}
        self._generations: dict[str, int] = {}
        self._steps: list[Step] = []

    def rebalance(self, topics: Mapping[str, int], members: Mapping[str, Subscription]) -> None:
        """Assign to members as they are."""
        rounds = settle(self._assignor, topics, members)
        moving = transferring(self._assignor, topics, members)
        self._steps.append(Step(topics, members, rounds, moving))
        self._held |= rounds[-1]
        self._generations |= dict.fromkeys(members, len(self._steps))

    def rejoin(
        self,
        topics: Mapping[str, int],
        wants: Mapping[str, Sequence[str]],
        generations: Mapping[str, int] | None = None,
    ) -> None:
        """Assign to members that own what they held when they were last here."""
        told = self._generations | dict(generations or {})
        members = {
            name: Subscription(
                topics=tuple(wanted),
                owned=self._held.get(name, ()),
                generation=told.get(name, NO_GENERATION),
            )
            for name, wanted in wants.items()
        }
        self.rebalance(topics, members)

    def scenario(self) -> Scenario:
        return Scenario(tuple(self._steps))


def scenarios(given: Fields) -> Iterator[Scenario]:
    """Play through every way to read a case."""
    if "steps" in given:
        told = isinstance(given["steps"][0], str)
        yield _told_steps(given) if told else _topic_steps(given)
    elif "group_sizes_in_turn" in given:
        yield _sizes_in_turn(given)
    elif "group_sizes" in given:
        yield from _fresh_groups(given)
    elif isinstance(given.get("members"), Mapping) and isinstance(given["topics"], Mapping):
        yield from _given_members(given)
    else:
        yield from _random_groups(given)


def _topic_steps(given: Fields) -> Scenario:
    group = _Group(assignor_of(given))
    for step in given["steps"]:
        group.rejoin(step["topics"], _all_to(step["topics"], given["members"]))
    return group.scenario()


def _told_steps(given: Fields) -> Scenario:
    """Read steps such as "consumer1 leaves; consumer2 rejoins with generation 2"."""
    wants = _subscriptions(given)
    group = _Group(assignor_of(given))
    group.rejoin(given["topics"], wants)
    for text in given["steps"][1:]:
        generations: dict[str, int] = {}
        for clause in re.split(r"[;,]", text):
            if match := re.search(r"generation (\d+)", clause):
                named = clause[: match.start()]
                for number in re.findall(r"\d+", named):
                    generations[f"consumer{number}"] = int(match[1])
        group.rejoin(given["topics"], {name: wants[name] for name in generations}, generations)
    return group.scenario()


def _subscriptions(given: Fields) -> Mapping[str, Sequence[str]]:
    told = given["subscriptions"]
    if isinstance(told, Mapping):
        return told
    count = next(_NUMBERS[word] for word in told.split() if word in _NUMBERS)
    return _all_to(given["topics"], [f"consumer{number + 1}" for number in range(count)])


def _all_to(topics: Iterable[str], names: Iterable[str]) -> dict[str, list[str]]:
    return {name: list(topics) for name in names}


def _sizes_in_turn(given: Fields) -> Scenario:
    """A group that grows by new members and shrinks to those that joined last."""
    group = _Group(assignor_of(given))
    present: list[str] = []
    names = (f"consumer{number}" for number in itertools.count(1))
    for size in given["group_sizes_in_turn"]:
        present += itertools.islice(names, max(0, size - len(present)))
        present = present[-size:]
        group.rejoin(given["topics"], _all_to(given["all_subscribe"], present))
    return group.scenario()


def _fresh_groups(given: Fields) -> Iterator[Scenario]:
    for size in given["group_sizes"]:
        group = _Group(assignor_of(given))
        names = [f"c{number + 1:02}" for number in range(size)]
        group.rejoin(given["topics"], _all_to(given["topics"], names))
        yield group.scenario()


def _given_members(given: Fields) -> Iterator[Scenario]:
    for members in _generations(given):
        for leaver in _leavers(given):
            group = _Group(assignor_of(given))
            group.rebalance(given["topics"], members)
            if leaver is not None:
                stay = {name: one.topics for name, one in members.items() if name != leaver}
                group.rejoin(given["topics"], stay)
            yield group.scenario()


def _generations(given: Fields) -> Iterator[dict[str, Subscription]]:
    """The members as they are, or with every order of generations that is told."""
    members = members_of(given["members"])
    told = [name for name in given if name.startswith("generations_of_consumer_")]
    if not told:
        yield members
        return
    numbers = re.findall(r"\d+", told[0])
    generations = [int(number) for number in re.findall(r"\d+", given[told[0]])]
    for order in itertools.permutations(generations):
        named = {f"consumer{number}": one for number, one in zip(numbers, order, strict=True)}
        yield members | {
            name: replace(members[name], generation=one) for name, one in named.items()
        }


def _leavers(given: Fields) -> Sequence[str | None]:
    """Who leaves: nobody, the member that is named, or each of them in its own scenario."""
    text = given.get("then")
    if text is None:
        return [None]
    named = [name for name in given["members"] if re.search(rf"\b{re.escape(name)}\b", text)]
    if re.search(r"\bleaves\b", text):
        return named or list(given["members"])
    message = f'"{text}" is not understood'
    raise LookupError(message)


def _random_groups(given: Fields) -> Iterator[Scenario]:
    """Groups of any kind that change in any way, for rules that hold for all of them."""
    for seed in range(_RANDOM_GROUPS):
        chance = random.Random(seed)
        topics = {f"t{number}": chance.randint(1, 8) for number in range(chance.randint(1, 6))}
        group = _Group(assignor_of(given))
        for _ in range(3):
            names = [f"c{number}" for number in range(10) if chance.random() < 0.6] or ["c0"]
            alike = chance.random() < 0.5
            wants = {
                name: [topic for topic in topics if alike or chance.random() < 0.6]
                for name in names
            }
            group.rejoin(topics, wants)
        yield group.scenario()
