"""Values to columns and back: Avro beside fastavro, JSON and delimited beside Spark and polars."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from bench.codec_avro import (
    FLAT,
    NESTED,
    fastavro_decode,
    fastavro_encode,
    fastavro_values,
    ours_decode,
    ours_encode,
    rows,
)
from bench.measure import Cost, cost_of_tree
from bench.result import Measure, Result, Target
from bench.scale import Scale
from penstock.schema.codec.codecs import codec_of, format_of
from penstock.schema.codec.port import Codec
from penstock.schema.schema import Field, Schema
from penstock.schema.types import BOOLEAN, FLOAT64, INT64, STRING
from penstock.spark.session import spark_session, stop_session

_COLUMNS = Schema(
    (
        Field("user", STRING),
        Field("page", STRING),
        Field("clicks", INT64),
        Field("bytes", INT64),
        Field("score", FLOAT64),
        Field("region", STRING),
        Field("signed_in", BOOLEAN),
    )
)
_DDL = "user string, page string, clicks bigint, bytes bigint, score double, region string,"
_DDL += " signed_in boolean"
_METHOD = (
    "A record of page views: seven columns for JSON and delimited, with a timestamp for Avro, and"
    " an order with an array of records, a map, an enum and a union. Decoding gives columns,"
    " encoding takes them. Spark and ours both read the values, or the columns, from one Parquet"
    " file and keep nothing of the result (`noop`); fastavro reads each value into a dictionary"
    " and those into a table, and writes from dictionaries that lie ready. polars reads values"
    " that are all right and stops at one that is not; ours gives the good ones and names the"
    " others. By turns; rows per second, and per CPU-second of the whole process tree."
)
_AHEAD = Target("at least", 1.0)
_SEVERAL = Target("at least", 3.0)


class _Pair(NamedTuple):
    """Two ways to do the same to so many rows."""

    label: str
    rows: int
    ours: Callable[[], object]
    theirs: Callable[[], object]
    target: Target | None


def run(scale: Scale) -> Result:
    """Measure each format in both directions."""
    count, pairs = scale.of(2_000_000, 2_000), scale.of(5, 1)
    spark = spark_session()
    try:
        with scale.home() as home:
            found = [*_avro(scale), *_texts(spark, home, count)]
            measures = [item for pair in found for item in _measured(pair, pairs)]
    finally:
        stop_session()
    return Result(
        name="formats",
        title="Values to columns and back",
        method=_METHOD,
        baseline="as each row says",
        scale=scale.name,
        sizes={"rows": count, "rows of Avro": scale.of(100_000, 500), "pairs": pairs},
        measures=tuple(measures),
    )


def _avro(scale: Scale) -> Iterator[_Pair]:
    for name, schema in (("flat", FLAT), ("nested", NESTED)):
        avro = rows(schema, scale.of(100_000, 500))
        count, ready = len(avro.messages), fastavro_values(avro)
        yield _Pair(
            f"Avro, {name}, decoded, against fastavro",
            count,
            lambda avro=avro: ours_decode(avro),  # type: ignore[misc]
            lambda avro=avro: fastavro_decode(avro),  # type: ignore[misc]
            _SEVERAL,
        )
        yield _Pair(
            f"Avro, {name}, encoded, against fastavro",
            count,
            lambda avro=avro: ours_encode(avro),  # type: ignore[misc]
            lambda avro=avro, ready=ready: fastavro_encode(avro, ready),  # type: ignore[misc]
            _SEVERAL,
        )


def _texts(spark: SparkSession, home: Path, count: int) -> Iterator[_Pair]:
    some = rows(FLAT, min(count, 200_000)).table.select(list(_COLUMNS.names))
    table = pa.concat_tables([some] * (count // len(some))).combine_chunks()
    pq.write_table(table, home / "columns.parquet")
    for name, reader, writer, by_polars in (
        ("json", f.from_json, f.to_json, _json_by_polars),
        ("delimited", f.from_csv, f.to_csv, _delimited_by_polars),
    ):
        codec = codec_of(format_of(name), _COLUMNS)
        values = codec.encode(table)
        file = home / f"{name}.parquet"
        pq.write_table(pa.table({"value": values.cast(pa.string())}), file)
        parsed = reader("value", _DDL)
        written = writer(f.struct(*_COLUMNS.names))
        columns = home / "columns.parquet"
        yield _Pair(
            f"{name}, decoded, against Spark's {reader.__name__}",
            count,
            _decoding(codec, file),
            _spark(spark, file, lambda rows, parsed=parsed: rows.select(parsed.alias("r"))),  # type: ignore[misc]
            _AHEAD,
        )
        yield _Pair(
            f"{name}, encoded, against Spark's {writer.__name__}",
            count,
            _encoding(codec, columns),
            _spark(spark, columns, lambda rows, written=written: rows.select(written)),  # type: ignore[misc]
            _AHEAD,
        )
        yield _Pair(
            f"{name}, decoded, against polars",
            count,
            _decoding(codec, file),
            lambda by_polars=by_polars, file=file: by_polars(file),  # type: ignore[misc]
            None,
        )


def _decoding(codec: Codec, file: Path) -> Callable[[], object]:
    def work() -> object:
        return codec.decode(pq.read_table(file).column("value").cast(pa.binary()).combine_chunks())

    return work


def _encoding(codec: Codec, file: Path) -> Callable[[], object]:
    return lambda: codec.encode(pq.read_table(file))


def _spark(
    spark: SparkSession, file: Path, change: Callable[[DataFrame], DataFrame]
) -> Callable[[], object]:
    def work() -> None:
        rows = change(spark.read.parquet(str(file)))
        # Spark would leave out what nobody reads of a struct.
        wide = rows.select("r.*") if "r" in rows.columns else rows
        wide.write.format("noop").mode("overwrite").save()

    return work


def _json_by_polars(file: Path) -> object:
    kinds = {
        "user": pl.String,
        "page": pl.String,
        "clicks": pl.Int64,
        "bytes": pl.Int64,
        "score": pl.Float64,
        "region": pl.String,
        "signed_in": pl.Boolean,
    }
    return pl.read_parquet(file)["value"].str.json_decode(pl.Struct(kinds)).struct.unnest()


def _delimited_by_polars(file: Path) -> object:
    lines = "\n".join(pl.read_parquet(file)["value"]).encode()
    return pl.read_csv(io.BytesIO(lines), has_header=False, new_columns=list(_COLUMNS.names))


def _measured(pair: _Pair, times: int) -> Iterator[Measure]:
    for warm_up in (pair.ours, pair.theirs):
        warm_up()
    taken: list[tuple[Cost, Cost]] = [
        (cost_of_tree(pair.ours), cost_of_tree(pair.theirs)) for _ in range(times)
    ]
    # The clock of processors counts in hundredths.
    least = 0.01
    for unit, wall in (("rows/s", True), ("rows/CPU-s", False)):
        mine = [ours.wall if wall else max(ours.cpu, least) for ours, _ in taken]
        others = [theirs.wall if wall else max(theirs.cpu, least) for _, theirs in taken]
        yield Measure(
            label=pair.label,
            unit=unit,
            ours=tuple(pair.rows / seconds for seconds in mine),
            baseline=tuple(pair.rows / seconds for seconds in others),
            target=None if wall else pair.target,
        )
