"""Penstock: a durable log, and stream processing on it with Spark.

Names are loaded when first used, so that `import penstock` costs next to nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

# Arrow's allocator asks the kernel for pages of 2 MB, which are made empty when they are touched,
# and every new thread touches some: 8 to 13 ms for its first few kilobytes. It looks once, when
# Arrow is loaded.
os.environ.setdefault("MIMALLOC_ALLOW_THP", "0")

if TYPE_CHECKING:
    from penstock.app import (
        App,
    )
    from penstock.errors import (
        PenstockError,
        StoreError,
    )
    from penstock.front.dsl.aggregates import (
        aggregate,
        approx_count_distinct,
        collect_set,
        count_distinct,
        histogram,
        median,
        quantile,
        stddev,
        top_k,
        variance,
    )
    from penstock.front.dsl.calendar import (
        date_trunc,
        day,
        from_millis,
        hour,
        millis,
        minute,
        month,
        second,
        to_date,
        year,
    )
    from penstock.front.dsl.expression import (
        Expression,
        col,
        lit,
        when,
    )
    from penstock.front.dsl.formats import (
        avro,
        delimited,
        json,
        json_schema,
        protobuf,
        text_lines,
    )
    from penstock.front.dsl.functions import (
        abs,  # noqa: A004
        array_contains,
        array_size,
        ceil,
        coalesce,
        concat,
        contains,
        element_at,
        ends_with,
        exp,
        floor,
        greatest,
        is_nan,
        least,
        length,
        like,
        ln,
        lower,
        lpad,
        nullif,
        power,
        regexp_extract,
        regexp_extract_all,
        regexp_like,
        regexp_replace,
        replace,
        reverse,
        round,  # noqa: A004
        rpad,
        split,
        sqrt,
        starts_with,
        substring,
        trim,
        upper,
    )
    from penstock.front.dsl.hazard import (
        HazardWarning,
    )
    from penstock.front.dsl.matched import (
        avg,
        classifier,
        collect_list,
        count,
        final,
        first,
        last,
        match_number,
        matched,
        max,  # noqa: A004
        min,  # noqa: A004
        prev,
        sum,  # noqa: A004
    )
    from penstock.front.dsl.patterns import (
        PatternPart,
        pattern,
        skip_past_last_row,
        skip_to_first,
        skip_to_last,
        skip_to_next_row,
        step,
    )
    from penstock.front.dsl.persist import (
        postgres,
        sqlite,
    )
    from penstock.front.dsl.processes import (
        Processor,
        punctuate,
    )
    from penstock.front.dsl.refinements import (
        accumulating,
        discarding,
        retracting,
    )
    from penstock.front.dsl.states import (
        list_state,
        map_state,
        renamed,
        value_state,
    )
    from penstock.front.dsl.static import (
        spark_table,
        static,
    )
    from penstock.front.dsl.stream import (
        Stream,
        Table,
    )
    from penstock.front.dsl.triggers import (
        after,
        after_delay,
        after_rows,
        aligned,
        all_of,
        any_of,
        at_watermark,
        continued,
        each_batch,
        each_row,
        every,
        every_rows,
        in_sequence,
        never,
        once,
        repeat,
        until,
        when_closed,
        when_complete,
        when_row,
    )
    from penstock.front.dsl.watermarks import (
        bounded,
        perfect,
        punctuated,
    )
    from penstock.front.dsl.windows import (
        buffered_window,
        by_count,
        by_delta,
        by_punctuation,
        by_time,
        count_window,
        custom_window,
        delta_window,
        global_window,
        hopping,
        punctuation_window,
        session,
        sliding,
        tumbling,
    )
    from penstock.inline.run import (
        InlineOptions,
    )
    from penstock.log.consumer import (
        Consumer,
    )
    from penstock.log.event_store import (
        EventStore,
    )
    from penstock.log.open import (
        open_log,
    )
    from penstock.log.producer import (
        Producer,
    )
    from penstock.log.record import (
        Record,
        TopicPartition,
    )
    from penstock.log.topic import (
        Topic,
        TopicConfig,
    )
    from penstock.model.job_settings import (
        JobSettings,
        Restart,
    )
    from penstock.model.measure import (
        UserAggregate,
    )
    from penstock.model.pattern import (
        Pattern,
    )
    from penstock.model.physical import (
        Settings,
    )
    from penstock.model.processor import (
        Context,
        ListState,
        MapState,
        Timer,
        ValueState,
    )
    from penstock.model.store import (
        Store,
    )
    from penstock.plan.state_change import (
        StateWarning,
    )
    from penstock.schema.codec.format import (
        Format,
    )
    from penstock.schema.home_schemas import (
        HomeSchemas,
    )
    from penstock.schema.schema import (
        Field,
        Schema,
    )
    from penstock.schema.serde import (
        Receiver,
        Sender,
        Serde,
        serde_of,
        writing_serde,
    )
    from penstock.watch.rule_document import (
        alert_rule,
    )
    from penstock.watch.watcher import (
        Watcher,
    )

__version__ = "0.1.0"

# fmt: off
__all__ = [
    "App", "Consumer", "Context", "EventStore", "Expression", "Field", "Format",
    "HazardWarning", "HomeSchemas", "InlineOptions", "JobSettings", "ListState", "MapState",
    "Pattern", "PatternPart", "PenstockError", "Processor", "Producer", "Receiver", "Record",
    "Restart", "Schema", "Sender", "Serde", "Settings", "StateWarning", "Store", "StoreError",
    "Stream", "Table", "Timer", "Topic", "TopicConfig", "TopicPartition", "UserAggregate",
    "ValueState", "Watcher", "__version__", "abs", "accumulating", "after", "after_delay",
    "after_rows", "aggregate", "alert_rule", "aligned", "all_of", "any_of",
    "approx_count_distinct", "array_contains", "array_size", "at_watermark", "avg", "avro",
    "bounded", "buffered_window", "by_count", "by_delta", "by_punctuation", "by_time", "ceil",
    "classifier", "coalesce", "col", "collect_list", "collect_set", "concat", "contains",
    "continued", "count", "count_distinct", "count_window", "custom_window", "date_trunc",
    "day", "delimited", "delta_window", "discarding", "each_batch", "each_row", "element_at",
    "ends_with", "every", "every_rows", "exp", "final", "first", "floor", "from_millis",
    "global_window", "greatest", "histogram", "hopping", "hour", "in_sequence", "is_nan",
    "json", "json_schema", "last", "least", "length", "like", "list_state", "lit", "ln",
    "lower", "lpad", "map_state", "match_number", "matched", "max", "median", "millis", "min",
    "minute", "month", "never", "nullif", "once", "open_log", "pattern", "perfect", "postgres",
    "power", "prev", "protobuf", "punctuate", "punctuated", "punctuation_window", "quantile",
    "regexp_extract", "regexp_extract_all", "regexp_like", "regexp_replace", "renamed",
    "repeat", "replace", "retracting", "reverse", "round", "rpad", "second", "serde_of",
    "session", "skip_past_last_row", "skip_to_first", "skip_to_last", "skip_to_next_row",
    "sliding", "spark_table", "split", "sqlite", "sqrt", "starts_with", "static", "stddev",
    "step", "substring", "sum", "text_lines", "to_date", "top_k", "trim", "tumbling", "until",
    "upper", "value_state", "variance", "when", "when_closed", "when_complete", "when_row",
    "writing_serde", "year",
]
# fmt: on

_NAMES = {
    "penstock.app": "App",
    "penstock.errors": "PenstockError StoreError",
    "penstock.front.dsl.aggregates": (
        "aggregate approx_count_distinct collect_set count_distinct histogram median quantile "
        "stddev top_k variance"
    ),
    "penstock.front.dsl.calendar": (
        "date_trunc day from_millis hour millis minute month second to_date year"
    ),
    "penstock.front.dsl.expression": "Expression col lit when",
    "penstock.front.dsl.formats": "avro delimited json json_schema protobuf text_lines",
    "penstock.front.dsl.functions": (
        "abs array_contains array_size ceil coalesce concat contains element_at ends_with exp "
        "floor greatest is_nan least length like ln lower lpad nullif power regexp_extract "
        "regexp_extract_all regexp_like regexp_replace replace reverse round rpad split sqrt "
        "starts_with substring trim upper"
    ),
    "penstock.front.dsl.hazard": "HazardWarning",
    "penstock.front.dsl.matched": (
        "avg classifier collect_list count final first last match_number matched max min prev sum"
    ),
    "penstock.front.dsl.patterns": (
        "PatternPart pattern skip_past_last_row skip_to_first skip_to_last skip_to_next_row step"
    ),
    "penstock.front.dsl.persist": "postgres sqlite",
    "penstock.front.dsl.processes": "Processor punctuate",
    "penstock.front.dsl.refinements": "accumulating discarding retracting",
    "penstock.front.dsl.states": "list_state map_state renamed value_state",
    "penstock.front.dsl.static": "spark_table static",
    "penstock.front.dsl.stream": "Stream Table",
    "penstock.front.dsl.triggers": (
        "after after_delay after_rows aligned all_of any_of at_watermark continued each_batch "
        "each_row every every_rows in_sequence never once repeat until when_closed "
        "when_complete when_row"
    ),
    "penstock.front.dsl.watermarks": "bounded perfect punctuated",
    "penstock.front.dsl.windows": (
        "buffered_window by_count by_delta by_punctuation by_time count_window custom_window "
        "delta_window global_window hopping punctuation_window session sliding tumbling"
    ),
    "penstock.inline.run": "InlineOptions",
    "penstock.log.consumer": "Consumer",
    "penstock.log.event_store": "EventStore",
    "penstock.log.open": "open_log",
    "penstock.log.producer": "Producer",
    "penstock.log.record": "Record TopicPartition",
    "penstock.log.topic": "Topic TopicConfig",
    "penstock.model.job_settings": "JobSettings Restart",
    "penstock.model.measure": "UserAggregate",
    "penstock.model.pattern": "Pattern",
    "penstock.model.physical": "Settings",
    "penstock.model.processor": "Context ListState MapState Timer ValueState",
    "penstock.model.store": "Store",
    "penstock.plan.state_change": "StateWarning",
    "penstock.schema.codec.format": "Format",
    "penstock.schema.home_schemas": "HomeSchemas",
    "penstock.schema.schema": "Field Schema",
    "penstock.schema.serde": "Receiver Sender Serde serde_of writing_serde",
    "penstock.watch.rule_document": "alert_rule",
    "penstock.watch.watcher": "Watcher",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}


if not TYPE_CHECKING:
    # Hidden from type checkers, which would take any name for a public one.
    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
