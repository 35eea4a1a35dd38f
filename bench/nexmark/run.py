"""Nexmark: 23 queries on our engine and its peers, over the same events, by turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bench.nexmark.engines import LABELS, NAMES, OURS, SPARK, commands_of
from bench.nexmark.events import events_folder
from bench.nexmark.harness import close_engines_when_ended
from bench.nexmark.questions import QUESTIONS
from bench.nexmark.record import Record
from bench.nexmark.turns import Plan, Turns, batch_of
from bench.result import Measure, Result, Target, load, save
from bench.scale import Scale

_METHOD = (
    "The queries of Nexmark over persons, auctions and bids (1 : 3 : 46, 10,000 a second of event"
    " time, hot keys as in its own generator). Each engine is a process that stays; for each query"
    " it first runs once, and that result is compared row by row with DuckDB's answer over the same"
    " files: no speed without a right answer. It goes on until it has run for 3 seconds, or twenty"
    " times, to be warm. Then the engines take turns: three, and seven of those whose run lasts"
    " less than a second. A run goes from the start of the query to its end over all events."
    " Ours reads typed topics of the"
    " embedded log and writes results to it exactly once, synced; PySpark and PyFlink read Parquet"
    " files of the same rows by their own vectorised reader and leave their results in Parquet"
    " files, exactly once, not compressed, which is the cheapest they have. Each also takes part"
    " with a sink that drops all results: no user has one, but it shows what the engine alone"
    " costs, beside ours with its results stored. Bytewax, Quix Streams and Pathway keep theirs at"
    " least once: in lines of JSON, in a topic of Kafka, in lines of JSON. `Arrow by hand` are"
    " programs of pyarrow and numpy that have only their batches from Bytewax: no engine that one"
    " could take, so they count as no peer, but they show what the work itself costs."
    " Events are those of the topics a query reads. CPU-s are of all processors in the whole tree"
    " of processes, those that have ended included; memory is what the tree holds at most (PSS)."
)
_BESIDE_DURABLE = Target("at least", 1.5)
_BESIDE_SPARK = Target("at least", 3.0)


def run(scale: Scale) -> Result:
    """Measure what is asked for, and put it beside what was measured before."""
    engines = _chosen(scale, "engines", NAMES, (OURS, SPARK) if scale.quick else NAMES)
    queries = _chosen(scale, "queries", tuple(QUESTIONS), tuple(QUESTIONS))
    events = _number(scale, "events", scale.of(1_000_000, 20_000))
    disorder = _number(scale, "disorder", 0)
    close_engines_when_ended()
    folder = events_folder(events, disorder, below=scale.folder / "nexmark")
    with scale.home() as scratch:
        plan = Plan(
            events=events,
            folder=folder,
            queries=queries,
            runs=_number(scale, "runs", scale.of(3, 1)),
            warm=scale.of(3, 0),
            batch=_number(scale, "batch", batch_of(events)),
            last=_number(scale, "last", 0),
            disorder=disorder,
            scratch=scratch,
        )
        record = _before(scale)
        for part in Turns(list(commands_of(engines)), plan).records():
            record = record.updated(part)
            # All queries take hours: what is done by then outlives who is ended early.
            if scale.kept is not None:
                save(as_result(record, scale), scale.kept)
    return as_result(record, scale)


def as_result(record: Record, scale: Scale) -> Result:
    """Judge a record by what was promised."""
    return Result(
        name="nexmark",
        title="Nexmark, beside other engines",
        method=_METHOD,
        baseline="the best durable peer of each query",
        scale=scale.name,
        sizes={
            "measured": "; ".join(record.cases),
            "runs": "3; 7 of what lasts less than a second" if scale.name == "full" else 1,
            "rows a batch": "250,000; of more than 1,000,000 events, 1,000,000",
            "lateness": "4 s",
        },
        measures=tuple(_measures(record)),
        details=record.details,
    )


def _measures(whole: Record) -> Iterator[Measure]:
    for case in whole.cases:
        record = whole.of_case(case)
        mean = record.mean_ratio(lambda _: SPARK)
        if mean is not None:
            yield Measure(
                label=f"{case}: geometric mean against plain PySpark",
                unit="times as many events/CPU-s",
                ours=(mean,),
                target=_BESIDE_SPARK,
            )
        nowhere = record.mean_ratio(record.best_to_nowhere)
        if nowhere is not None:
            yield Measure(
                label=f"{case}: geometric mean against the best whose results go nowhere",
                unit="times as many events/CPU-s",
                ours=(nowhere,),
            )
        for query in record.queries():
            peer = record.best_durable_peer(query)
            if peer is None or not record.runs_of(query, OURS):
                continue
            yield Measure(
                label=f"{case}: {query}, {QUESTIONS[query].title}; {LABELS[peer]}",
                unit="events/CPU-s",
                ours=tuple(run.thrift for run in record.runs_of(query, OURS)),
                baseline=tuple(run.thrift for run in record.runs_of(query, peer)),
                target=_BESIDE_DURABLE,
            )


def _before(scale: Scale) -> Record:
    """Give what was kept, so that a part can be measured again by itself."""
    path = None if scale.kept is None else scale.kept / "nexmark.json"
    return Record.of(load(path).details) if path is not None and path.exists() else Record()


def _number(scale: Scale, option: str, without: int) -> int:
    given = scale.asked.get(option, str(without)).replace("_", "").replace(",", "")
    if not given.isdecimal():
        message = f'--{option}: "{given}" is not a number'
        raise SystemExit(message)
    return int(given)


def _chosen(
    scale: Scale, option: str, there: Sequence[str], without: Sequence[str]
) -> tuple[str, ...]:
    given = scale.asked.get(option)
    if given is None:
        return tuple(without)
    names = [name.strip() for name in given.split(",") if name.strip()]
    for name in names:
        if name not in there:
            message = f'--{option}: "{name}" does not exist; there are: {", ".join(there)}'
            raise SystemExit(message)
    return tuple(name for name in there if name in names)
