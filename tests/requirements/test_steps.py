"""Steps: what is done with the rows of a stream (D01 to D03, D05 to D12, D19, D33 to D36).

The policies of windows (D40) are in test_windows.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import penstock as ps
from penstock.front.dsl.stream import Stream
from penstock.log.murmur2 import partition_of_key
from penstock.log.open import open_log
from tests.requirements.events import (
    COLUMNS,
    Row,
    disordered,
    driver,
    event,
    program,
    spans,
    window_sums,
)
from tests.requirements.homes import EVENTS, publish, records, to_the_end

TWEETS = {"user": str, "text": str, "at": "timestamp"}
WORD = {"word": str}
ROWS = [event(n, n, "abc"[n % 3]) for n in range(30)]


def said(*texts: str) -> list[Row]:
    return [{"user": "u", "text": text, "at": 1000 * n} for n, text in enumerate(texts)]


def words_of(row: Row) -> Iterator[Row]:
    return ({"word": word} for word in row["text"].lower().split())


def tweets(app: ps.App) -> Stream:
    return app.stream("tweets", schema=TWEETS, event_time="at")


# D01
def test_a_function_of_the_users_is_plugged_in_as_a_step() -> None:
    def doubled(row: Row) -> Row:
        return {"k": row["k"].upper(), "twice": 2 * row["v"]}

    run = driver(lambda stream: stream.map(doubled, schema={"k": str, "twice": int}))
    run.push("events", [event(0, 3), event(1, 4, "b")])
    assert run.rows("out") == [{"k": "A", "twice": 6}, {"k": "B", "twice": 8}]


# D02
def test_the_steps_and_the_streams_between_them_are_printed_as_a_graph() -> None:
    app = ps.App("check")
    words = tweets(app).flat_map(words_of, schema=WORD)
    words.group_by("word").count().to("counts")
    words.filter(ps.col("word") == "go").to("gone")
    told = app.describe().splitlines()
    heads = [
        line.split("(")[0].strip() for line in told if line.startswith("  ") and line[2] != " "
    ]
    assert [head.split(" ")[0] for head in heads] == ["s1", "s2", "s3", "s4", "o1", "o2"]
    edges = {head.split(" ")[0]: head.partition("<- ")[2] for head in heads}
    assert edges == {"s1": "", "s2": "s1", "s3": "s2", "s4": "s2", "o1": "s3", "o2": "s4"}
    assert app.svg().count("<path d=") == 1 + 5


# D03
def test_only_matching_rows_pass_a_filter_by_expression_or_by_function() -> None:
    by_expression = driver(lambda stream: stream.filter(ps.col("v") % 2 == 0))
    by_function = driver(lambda stream: stream.filter(lambda row: row["v"] % 2 == 0))
    for run in (by_expression, by_function):
        run.push("events", ROWS)
        assert [row["v"] for row in run.rows("out")] == list(range(0, 30, 2))
    assert sum(counts.filtered for counts in by_expression.counts().values()) == 15


# D05
def test_a_sentence_becomes_words() -> None:
    app = ps.App("check")
    flat = tweets(app).flat_map(words_of, schema=WORD)
    flat.map(lambda row: {"word": row["word"].title()}, schema=WORD).to("out")
    run = app.test()
    run.push("tweets", said("to be or not", "", "TO BE"))
    found = [row["word"] for row in run.rows("out")]
    assert found == ["To", "Be", "Or", "Not", "To", "Be"]


# D06: V19, word count
def test_words_are_counted_by_key() -> None:
    app = ps.App("check")
    tweets(app).flat_map(words_of, schema=WORD).group_by("word").count().to("out")
    run = app.test()
    run.push("tweets", said("all streams lead to kafka", "hello kafka streams"))
    run.push("tweets", said("join kafka summit"))
    assert {row["word"]: row["count"] for row in run.table("out")} == {
        "all": 1,
        "streams": 2,
        "lead": 1,
        "to": 1,
        "kafka": 3,
        "hello": 1,
        "join": 1,
        "summit": 1,
    }


# D07: V21, countByValueAndWindow(Seconds(5), Seconds(5))
def test_values_are_counted_by_sliding_windows_whose_slide_is_their_length() -> None:
    def counted(stream: Stream) -> Stream:
        return stream.group_by("k").window(ps.hopping("5s", "5s")).count()

    run = driver(counted)
    run.push("events", [event(n, n, "xy"[n % 2]) for n in range(12)])
    run.finish()
    found = sorted((row["k"], *spans([row], "count")[0]) for row in run.rows("out"))
    assert found == [
        ("x", 0, 5, 3),
        ("x", 5, 10, 2),
        ("x", 10, 15, 1),
        ("y", 0, 5, 2),
        ("y", 5, 10, 3),
        ("y", 10, 15, 1),
    ]


# D08
def test_after_each_event_the_count_of_its_type_is_known() -> None:
    run = driver(lambda stream: stream.group_by("k").count("n"))
    seen: Counter[str] = Counter()
    for row in ROWS[:12]:
        run.push("events", row)
        seen[row["k"]] += 1
        assert run.take("out")[-1]["n"] == seen[row["k"]]
        assert {row["k"]: row["n"] for row in run.table("out")} == seen


# D09
def test_events_are_aggregated_to_hours() -> None:
    run = driver(window_sums(ps.tumbling("1 hour")))
    run.push("events", [event(1200 * n, 1) for n in range(9)])
    run.finish()
    assert spans(run.rows("out")) == [(0, 3600, 3), (3600, 7200, 3), (7200, 10800, 3)]


# D10
def test_rows_are_enriched_with_the_attributes_of_a_table() -> None:
    users = pl.DataFrame({"k": ["a", "b"], "region": ["north", "south"]})
    columns = {"k": str, "v": int, "at": "timestamp", "region": str}
    joined = driver(
        lambda stream: stream.map_batches(
            lambda rows: rows.join(users, on="k", how="left", maintain_order="left"),
            schema=columns,
        )
    )
    regions = dict(users.rows())
    looked_up = driver(
        lambda stream: stream.map(
            lambda row: {**row, "region": regions.get(row["k"])}, schema=columns
        )
    )
    for run in (joined, looked_up):
        run.push("events", [event(0, 1, "b"), event(1, 2, "c"), event(2, 3, "a")])
        assert [(row["v"], row["region"]) for row in run.rows("out")] == [
            (1, "south"),
            (2, None),
            (3, "north"),
        ]


def stateless(stream: Stream) -> Stream:
    odd = stream.filter(ps.col("v") % 2 == 1).with_columns(square=ps.col("v") * ps.col("v"))
    return odd.flat_map(
        lambda row: [{"k": row["k"], "n": n} for n in range(row["square"] % 3)],
        schema={"k": str, "n": int},
    )


def multiset(rows: list[Row]) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in rows)


# D11
@pytest.mark.parametrize("seed", range(4))
def test_a_step_without_memory_gives_the_same_rows_for_any_order(seed: int) -> None:
    in_order, mixed = driver(stateless), driver(stateless)
    in_order.push("events", ROWS)
    for row in disordered(ROWS, seed):
        mixed.push("events", row)
    assert multiset(mixed.rows("out")) == multiset(in_order.rows("out"))
    assert multiset(in_order.rows("out"))


# D12; on Spark in tests/spark/test_requirements.py
def test_a_step_without_memory_has_no_state_to_recover() -> None:
    settings = [ps.Settings(parallelism=n, buckets=8) for n in (1, 4)]
    one, four = (program(stateless).test(settings=item) for item in settings)
    one.push("events", ROWS)
    for start in range(0, 30, 6):
        four.crash_after("read")
        four.push("events", ROWS[start : start + 6], partition=start % 4)
    assert multiset(four.rows("out")) == multiset(one.rows("out"))
    assert four.physical.operators == ()
    assert four.snapshot().states == {}


# D19: joins of streams do not exist before issue 5; what remembers rows of a stream is bounded.
def test_what_remembers_rows_of_a_stream_without_end_lets_go_of_them() -> None:
    app = ps.App("check")
    stream = app.stream("events", schema=COLUMNS, event_time="at")
    stream.dedup("v", within="1 minute").to("once")
    stream.group_by("k").window(ps.tumbling("1 minute")).agg(all=ps.collect_list("v")).to("lists")
    stream.group_by("k").window(ps.count_window(5, 1)).agg(last=ps.collect_list("v")).to("latest")
    run = app.test()
    held = []
    for minute in range(40):
        run.push("events", [event(60 * minute + n, 100 * minute + n) for n in range(10)])
        held.append(sum(t.height for o in run.physical.operators for t in run.state(o.id).values()))
    assert max(held[5:]) <= max(held[:5])


# D33: V21, hashtags
def test_hashtags_are_taken_out_of_text_in_small_letters() -> None:
    app = ps.App("check")
    tags = tweets(app).select(tags=ps.regexp_extract_all(ps.lower("text"), r"#(\w+)", 1))
    flat = tags.flat_map(lambda row: ({"word": tag} for tag in row["tags"]), schema=WORD)
    flat.group_by("word").count().to("out")
    run = app.test()
    run.push("tweets", said("Go #Spurs #spurs"))
    assert run.table("out") == [{"word": "spurs", "count": 2}]


# D33
def test_text_is_split_on_white_space() -> None:
    app = ps.App("check")
    tweets(app).select(words=ps.split(ps.lower("text"), r"\s+")).to("out")
    run = app.test()
    run.push("tweets", said("Go  #Spurs\t#spurs"))
    assert run.rows("out") == [{"words": ["go", "#spurs", "#spurs"]}]


# D34: V19, Pattern.compile("\\W+", Pattern.UNICODE_CHARACTER_CLASS)
def test_text_is_split_at_what_is_no_letter_in_any_language() -> None:
    app = ps.App("check")
    tweets(app).select(words=ps.split(ps.lower("text"), r"\W+")).to("out")
    run = app.test()
    run.push("tweets", said("Únicos 2 equipos"))
    assert run.rows("out") == [{"words": ["únicos", "2", "equipos"]}]


# D35: V19 and V20, map to a new key, PARTITION BY
@pytest.mark.parametrize("way", ["key_by", "to"])
def test_rows_with_a_new_key_are_written_where_its_hash_says(tmp_path: Path, way: str) -> None:
    publish(tmp_path, [event(n, n, f"user-{n % 7}") for n in range(40)])
    with open_log(tmp_path) as log:
        log.create_topic("out", partitions=4, schema=EVENTS)
    app = ps.App("check")
    stream = app.stream("events", schema=COLUMNS, event_time="at").with_columns(k=ps.upper("k"))
    if way == "key_by":
        stream.key_by("k").to("out")
    else:
        stream.to("out", key="k")
    to_the_end(app.physical(), tmp_path)
    found = records(tmp_path, "out")
    assert len(found) == 40
    for row in found:
        assert row["_key"] == row["k"].encode()
        assert row["_partition"] == partition_of_key(row["_key"], 4)
    assert len({row["_partition"] for row in found}) > 1


# D36: V19, toStream
def test_each_update_of_a_count_is_a_record() -> None:
    run = driver(lambda stream: stream.group_by("k").count("n").to_stream())
    for k in "aabab":
        run.push("events", event(0, 1, k))
    assert [(row["k"], row["n"]) for row in run.rows("out")] == [
        ("a", 1),
        ("a", 2),
        ("b", 1),
        ("a", 3),
        ("b", 2),
    ]
