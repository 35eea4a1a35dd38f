"""A server with its host, and a real job on Spark, seen to by HTTP alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.eventually import eventually
from tests.pages.serving import served

SHOP = """
from pathlib import Path

import penstock as ps

PRICES = Path({prices!r})


def priced(row):
    if row["what"] == "pear" and not PRICES.exists():
        raise LookupError("no price of a pear")
    return {{"user": row["user"], "n": row["n"]}}


app = ps.App("shop")
orders = app.stream("orders", schema={{"user": str, "what": str, "n": int}}, format="json")
counted = orders.map(priced, schema={{"user": "string", "n": "int64"}}).group_by("user")
counted.agg(rows=ps.count(), total=ps.sum("n")).to("counted")
"""


class Shop:
    """A job, its input, and what it should have counted."""

    def __init__(self, url: str, place: Path) -> None:
        self.url = url
        self.prices = place / "prices.txt"
        self._http = httpx.Client(base_url=f"{url}/api/v1", timeout=60)
        self._apples: Counter[str] = Counter()

    def ask(self, verb: str, path: str, status: int = 200, **said: Any) -> Any:  # noqa: ANN401
        """Ask for something that is done, and give what was answered."""
        answer = self._http.request(verb, path, **said)
        assert answer.status_code == status, answer.text
        whole = answer.headers.get("content-type") == "application/json"
        return answer.json() if whole and answer.content else answer.content

    def do(self, verb: str, status: int = 200, **said: Any) -> Any:  # noqa: ANN401
        """Do something to the job."""
        return self.ask("POST", f"/jobs/shop/{verb}", status, json=said)

    def job(self, **said: str) -> Any:  # noqa: ANN401
        """Look at the job."""
        return self.ask("GET", "/jobs/shop", params=said)

    def submit(self) -> None:
        """Make the job."""
        text = SHOP.format(prices=str(self.prices))
        program = {"files": {"shop.py": text}, "program": "shop.py"}
        self.ask("POST", "/jobs", 201, json=program)

    def give(self, *users: str, n: int = 1) -> None:
        """Let users order apples."""
        self._order(*users, what="apple", n=n)
        self._apples.update(users)

    def give_pear(self, user: str) -> None:
        """Let somebody order what has no price."""
        self.prices.unlink(missing_ok=True)
        self._order(user, what="pear", n=1)

    def _order(self, *users: str, what: str, n: int) -> None:
        rows = [{"key": user, "value": {"user": user, "what": what, "n": n}} for user in users]
        self.ask("POST", "/topics/orders/records", 201, json={"records": rows})

    def records(self, topic: str) -> list[dict[str, Any]]:
        """Give all records of a topic, by time; none where it is not there yet."""
        if self._http.get(f"/topics/{topic}").is_error:
            return []
        found = self.ask("GET", f"/topics/{topic}/records", params={"limit": 1000})
        items: list[dict[str, Any]] = found["items"]
        return items

    def counted(self, topic: str = "counted") -> dict[str, int]:
        """Give the rows of the table in a topic."""
        latest = {row["key"]: row["value"] for row in self.records(topic)}
        return {key: value["rows"] for key, value in latest.items() if value is not None}

    def await_apples(self, topic: str = "counted", *users: str) -> None:
        """Wait until a table has counted all apples, or all of some users."""
        wanted = {user: self._apples[user] for user in users or self._apples}
        until(lambda: self.counted(topic).items() >= wanted.items())

    def position(self) -> int:
        """Give how many orders the job has read."""
        return sum(place["position"] for place in self.job()["progress"]["positions"])

    def letters(self) -> dict[int, bool]:
        """Give which dead letters there are, and whether they were sent again."""
        if not any(pile["topic"] == "counted.dead" for pile in self.ask("GET", "/dead-letters")):
            return {}
        found = self.ask("GET", "/dead-letters/counted.dead")["items"]
        return {letter["offset"]: letter["replayed"] for letter in found}

    def alerts(self, rule: str) -> list[str]:
        """Give the messages of the alerts of a rule."""
        rules = self.ask("GET", "/alerts")["rules"]
        return [one["message"] for item in rules if item["rule"] == rule for one in item["alerts"]]

    def close(self) -> None:
        """Ask no more."""
        self._http.close()


def until(holds: Callable[[], bool]) -> None:
    """Wait for what a server says; it is not to be kept busy by that. Spark may take its time."""
    eventually(holds, patience=150, pause=0.1)


@contextmanager
def real_shop(place: Path) -> Iterator[Shop]:
    """Serve a home with its host for the length of a with block; its job has begun to count."""
    (place / "penstock.toml").write_text("")
    with served(place / "home", place) as url, closing(Shop(url, place)) as shop:
        shop.ask("POST", "/topics", 201, json={"name": "orders", "partitions": 2})
        shop.give("ann", "bob", "ann")
        shop.submit()
        shop.await_apples()
        yield shop
