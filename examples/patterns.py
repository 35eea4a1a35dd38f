"""Complex events: what several rows mean together.

Three failed logins within a minute, a rise after two falls, one card in two cities within ten
minutes, and an order that nobody paid.

penstock explain examples/patterns.py:app
penstock run examples/patterns.py:app
"""

from __future__ import annotations

import penstock as ps

app = ps.App("patterns")

logins = app.stream(
    "logins",
    schema={"user": str, "ok": bool, "at": "timestamp"},
    event_time="at",
    lateness="10s",
)
failures = ps.step("fail", ~ps.col("ok")).times(3).within("1 minute")
logins.group_by("user").match(
    failures,
    emit={"first": ps.first("fail", "at"), "last": ps.last("fail", "at")},
).to("break_ins")

prices = app.stream(
    "prices",
    schema={"share": str, "price": float, "at": "timestamp"},
    event_time="at",
    lateness="10s",
)
fall = ps.step("fall", ps.col("price") < ps.prev("price"))
rise = ps.step("rise", ps.col("price") > ps.prev("price"))
prices.group_by("share").match(
    ps.pattern(fall.times(2), rise).within("1 hour"),
    emit={"bottom": ps.last("fall", "price"), "price": ps.last("rise", "price")},
    skip=ps.skip_to_last("rise"),
).to("turns")

payments = app.stream(
    "payments",
    schema={"card": str, "city": str, "amount": float, "at": "timestamp"},
    event_time="at",
    lateness="10s",
)
here = ps.step("here")
elsewhere = ps.step("elsewhere", ps.col("city") != ps.last("here", "city"))
payments.group_by("card").match(
    here.one_or_more().reluctant().followed_by(elsewhere).within("10 minutes"),
    emit={
        "one": ps.last("here", "city"),
        "other": ps.last("elsewhere", "city"),
        "spent": ps.sum(("here", "elsewhere"), "amount"),
    },
).to("stolen_cards")

orders = app.stream(
    "orders",
    schema={"id": str, "what": str, "at": "timestamp"},
    event_time="at",
    lateness="10s",
)
ordered = ps.step("ordered", ps.col("what") == "ordered")
paid = ps.step("paid", ps.col("what") == "paid")
orders.group_by("id").match(
    ordered.not_followed_by(paid).within("30 minutes"),
    emit={"since": ps.first("ordered", "at")},
).to("unpaid")
