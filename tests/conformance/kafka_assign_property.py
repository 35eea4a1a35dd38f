"""Checks of what must hold for an assignment that upstream does not spell out.

A case tells how a group comes about, and how it changes; `scenarios` turns that into the
assignments, step by step. Each field of `expect` is then one property of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from penstock.log.record import TopicPartition
from tests.conformance.kafka_assign import partition_named
from tests.conformance.kafka_group import Scenario, Step, scenarios
from tests.conformance.runner import Case, Check, holds, same

Property: TypeAlias = Callable[[Scenario, Any], None]

_KEEPS_ONLY = "_subset_of_owned"
_NOT_PROPERTIES = frozenset({"example"})


def check_assign_property(case: Case) -> None:
    """Every property in every scenario that the case tells of."""
    for scenario in scenarios(case.given):
        for name, wanted in case.expect.items():
            if name not in _NOT_PROPERTIES:
                _property(name, case.expect)(scenario, wanted)


def _property(name: str, expect: Mapping[str, Any]) -> Property:
    if name in _PROPERTIES:
        return _PROPERTIES[name]
    if name == "others":
        return lambda scenario, text: _others(scenario, text, expect["assignment"])
    if match := re.fullmatch(r"step_(\d+)", name):
        step = int(match[1])
        return lambda scenario, text: _told(scenario, step, text)
    if name.endswith(_KEEPS_ONLY):
        member = name.removesuffix(_KEEPS_ONLY)
        return lambda scenario, wanted: _keeps_only(scenario, member, wanted)
    message = f"no property is called {name}"
    raise LookupError(message)


def _valid(scenario: Scenario, wanted: object) -> None:
    for step in scenario.steps:
        _no_partition_twice(step)
        held = {partition for partitions in step.result.values() for partition in partitions}
        readable = {
            TopicPartition(topic, number)
            for subscription in step.members.values()
            for topic in subscription.topics
            for number in range(step.topics.get(topic, 0))
        }
        same(held, readable, "partitions given out")
        for member, partitions in step.result.items():
            topics = {partition.topic for partition in partitions}
            holds(topics <= set(step.members[member].topics), f"{member} reads what it is given")


def _disjoint(scenario: Scenario, wanted: object) -> None:
    for step in scenario.steps:
        _no_partition_twice(step)


def _no_partition_twice(step: Step) -> None:
    held = list(itertools.chain.from_iterable(step.result.values()))
    same(len(held), len(set(held)), "number of partitions given out")


def _balanced(scenario: Scenario, wanted: object) -> None:
    """No partition could go to a reader that holds at least two fewer."""
    for step in scenario.steps:
        sizes = {member: len(partitions) for member, partitions in step.result.items()}
        for holder, partitions in step.result.items():
            for topic in {partition.topic for partition in partitions}:
                for member, subscription in step.members.items():
                    if topic in subscription.topics:
                        holds(
                            sizes[holder] <= sizes[member] + 1,
                            f"{topic} stays with {holder} rather than {member}",
                        )


def _fully_balanced(scenario: Scenario, wanted: object) -> None:
    for step in scenario.steps:
        sizes = [len(partitions) for partitions in step.result.values()]
        holds(max(sizes) - min(sizes) <= 1, f"sizes {sizes} differ by one at most")


def _sticky(scenario: Scenario, wanted: object) -> None:
    """No two members give each other partitions of the same topic."""
    for before, after in itertools.pairwise(scenario.steps):
        old = {item: member for member, items in before.result.items() for item in items}
        moves = {
            (item.topic, old[item], member)
            for member, items in after.result.items()
            for item in items
            if old.get(item, member) != member and old[item] in after.result
        }
        swaps = {move for move in moves if (move[0], move[2], move[1]) in moves}
        same(swaps, set(), "swaps")


def _sizes(scenario: Scenario, wanted: Sequence[Any]) -> None:
    got = [sorted(len(items) for items in step.result.values()) for step in scenario.steps]
    stepwise = wanted and isinstance(wanted[0], list)
    same(got, [sorted(sizes) for sizes in (wanted if stepwise else [wanted])], "sizes")


def _size_between(scenario: Scenario, wanted: Sequence[int]) -> None:
    least, most = wanted
    for step in scenario.steps:
        for rounds in (step.rounds[0], step.result):
            for member, partitions in rounds.items():
                holds(least <= len(partitions) <= most, f"{member} holds {least} to {most}")


def _topic_sizes(scenario: Scenario, wanted: Sequence[int]) -> None:
    same(len(scenario.steps), len(wanted), "steps")
    for step, size in zip(scenario.steps, wanted, strict=True):
        for member, partitions in step.result.items():
            for topic in step.topics:
                got = sum(partition.topic == topic for partition in partitions)
                same(got, size, f"partitions of {topic} for {member}")


def _transferring(scenario: Scenario, wanted: Mapping[str, str]) -> None:
    for step in scenario.steps:
        same(step.transferring, wanted, "partitions that change hands")


def _assignment(scenario: Scenario, wanted: Mapping[str, list[str]]) -> None:
    result = scenario.steps[-1].result
    for member, names in wanted.items():
        same(set(result[member]), set(map(partition_named, names)), f"share of {member}")


def _others(scenario: Scenario, text: str, told: Mapping[str, object]) -> None:
    same(text, "keep what they own", "text")
    step = scenario.steps[-1]
    for member in step.members.keys() - told.keys():
        same(set(step.result[member]), set(step.members[member].owned), f"share of {member}")


def _keeps_only(scenario: Scenario, member: str, wanted: object) -> None:
    step = scenario.steps[-1]
    within = set(step.result[member]) <= set(step.members[member].owned)
    same(within, wanted, f"{member} keeps only what it owned")


def _told(scenario: Scenario, number: int, text: str) -> None:
    """Read what is told of a step in words, clause by clause."""
    for clause in re.split(r"[;,]\s*", text):
        for pattern, reading in _CLAUSES.items():
            if match := re.fullmatch(pattern, clause):
                holds(reading(scenario, number, match), f"{clause} in step {number}")
                break
        else:
            message = f'"{clause}" is not understood'
            raise LookupError(message)


def _keeps(scenario: Scenario, number: int, match: re.Match[str]) -> bool:
    now, before = scenario.steps[number - 1].result, scenario.steps[number - 2].result
    names = now.keys() & before.keys() if match[1] == "each member" else {match[1]}
    return all(set(before[member]) <= set(now[member]) for member in names)


def _has_only(scenario: Scenario, number: int, match: re.Match[str]) -> bool:
    now, then = scenario.steps[number - 1].result, scenario.steps[int(match[1]) - 1].result
    return all(set(partitions) <= set(then[member]) for member, partitions in now.items())


def _gets_some(scenario: Scenario, number: int, match: re.Match[str]) -> bool:
    now, before = scenario.steps[number - 1].result, scenario.steps[number - 2].result
    return bool(set(now[match[1]]) & set(before[match[2]]))


def _is_so(scenario: Scenario, number: int, match: re.Match[str]) -> bool:
    step = Scenario((scenario.steps[number - 1],))
    for word in match[0].split(" and "):
        (_disjoint if word == "disjoint" else _fully_balanced)(step, wanted=True)
    return True


_CLAUSES: Mapping[str, Callable[[Scenario, int, re.Match[str]], bool]] = {
    r"(each member|\w+) keeps what it had": _keeps,
    r"each member has only partitions it had in step (\d+)": _has_only,
    r"(\w+) gets some of (\w+)'s": _gets_some,
    r"(disjoint|balanced)( and (disjoint|balanced))?": _is_so,
}


def _rounds_at_most(scenario: Scenario, wanted: int) -> None:
    for step in scenario.steps:
        holds(len(step.rounds) <= wanted, f"{len(step.rounds)} rounds are {wanted} at most")


def _never(scenario: Scenario, text: str) -> None:
    """What a member must give up in a round is nobody's in that round."""
    holds("revoked from one member and given to another" in text, "the rule is understood")
    for step in scenario.steps:
        by_generation = sorted(step.members.items(), key=lambda member: member[1].generation)
        owners = {item: name for name, member in by_generation for item in member.owned}
        for result in step.rounds:
            for member, partitions in result.items():
                taken = {item for item in partitions if owners.get(item, member) != member}
                same(taken, set(), f"partitions {member} took in the round of their revocation")
            owners = {item: member for member, items in result.items() for item in items}


def _final(scenario: Scenario, text: str) -> None:
    same(text, "valid and as balanced as possible", "text")
    _valid(scenario, wanted=True)
    _balanced(scenario, wanted=True)


_PROPERTIES: Mapping[str, Property] = {
    "as_balanced_as_possible": _balanced,
    "assignment": _assignment,
    "each_member_size_between": _size_between,
    "final": _final,
    "fully_balanced": _fully_balanced,
    "never": _never,
    "no_partition_twice": _disjoint,
    "partitions_of_each_topic_per_member": _topic_sizes,
    "rounds_at_most": _rounds_at_most,
    "sizes": _sizes,
    "sticky": _sticky,
    "transferring": _transferring,
    "transferring_in_each_step": _transferring,
    "valid": _valid,
}

ASSIGN_PROPERTY_CHECKS: Mapping[str, Check] = {"assign_property": check_assign_property}
