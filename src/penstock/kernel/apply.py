"""The one place where functions of the user are called on rows and tables.

A row that makes a function raise, or whose result does not fit the declared columns, becomes
a failure; the others go on. A function of tables that raises is asked again with halves of the
table until the rows it cannot take are found.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa
from polars.exceptions import PanicException

from penstock.errors import RunError, SchemaError
from penstock.kernel.columns import control_columns, dtype_of, from_rows
from penstock.kernel.dead import Failure, failure_of
from penstock.kernel.port import CONTROL, ORIGIN, Frame
from penstock.model.stateless import Apply
from penstock.schema.codec.port import Decoded
from penstock.schema.schema import Schema

Row: TypeAlias = dict[str, Any]
Made: TypeAlias = list[tuple[int, Mapping[str, Any]]]
"""Rows made by a function, each with the place of the row it was made of."""


@dataclass(frozen=True, slots=True)
class Applied:
    """What came of a function: rows with control columns, failures, and rows it left out."""

    frame: Frame
    failures: Sequence[Failure] = ()
    filtered: int = 0


def apply(step: Apply, frame: Frame, columns: Sequence[str]) -> Applied:
    """Call a user's function on the rows of a frame, of which it sees `columns`."""
    if step.shape in ("arrow", "polars"):
        return _Tables(step, frame, columns).run()
    rows = frame.select(columns).iter_rows(named=True)
    if step.shape == "filter":
        return _filtered(step, frame, rows)
    return _made(step, frame, rows)


def _filtered(step: Apply, frame: Frame, rows: Iterable[Row]) -> Applied:
    kept: list[int] = []
    failures: list[Failure] = []
    for place, row in enumerate(rows):
        try:
            if step.function(row):
                kept.append(place)
        except Exception as error:  # noqa: BLE001  # whatever the user's code raises
            failures.append(failure_of(place, error))
    filtered = frame.height - len(kept) - len(failures)
    return Applied(frame[kept], failures, filtered)


def _made(step: Apply, frame: Frame, rows: Iterable[Row]) -> Applied:
    made: Made = []
    failures: list[Failure] = []
    flat = step.shape == "flat_map"
    for place, row in enumerate(rows):
        try:
            results = step.function(row) if flat else (step.function(row),)
            made += [(place, as_row(result, step.gives)) for result in results]
        except Exception as error:  # noqa: BLE001  # whatever the user's code raises
            failures.append(failure_of(place, error))
    fitted, misfits = fitting(made, step.gives)
    failed = {failure.place for failure in misfits}
    # One result that does not fit takes the others of its row with it: whole rows or none.
    if failed:
        made = [item for item in made if item[0] not in failed]
        fitted = from_rows([row for _, row in made], step.gives)
    places = [place for place, _ in made]
    control = frame.select(control_columns(frame))[places]
    ordered = sorted([*failures, *misfits], key=lambda failure: failure.place)
    emptied = frame.height - len(set(places)) - len(ordered)
    return Applied(pl.concat([fitted, control], how="horizontal"), ordered, emptied)


def fitting(made: Made, gives: Schema) -> tuple[Frame, list[Failure]]:
    """Make a frame of the rows that fit, halving those that do not until each is known."""
    try:
        return from_rows([row for _, row in made], gives), []
    except SchemaError as error:
        if len(made) == 1:
            return from_rows([], gives), [Failure(made[0][0], str(error))]
    half = len(made) // 2
    one, missed = fitting(made[:half], gives)
    other, more = fitting(made[half:], gives)
    unique = {failure.place: failure for failure in [*more, *missed]}
    return pl.concat([one, other]), list(unique.values())


def as_row(result: Any, gives: Schema) -> Mapping[str, Any]:  # noqa: ANN401
    """Read what a function gave: a dictionary, an object with the columns, or a lone value."""
    names = gives.names
    if isinstance(result, Mapping):
        row = result
    elif dataclasses.is_dataclass(result) or hasattr(result, "_asdict"):
        row = {name: getattr(result, name) for name in names if hasattr(result, name)}
    elif len(names) == 1 and not hasattr(result, names[0]):
        return {names[0]: result}
    else:
        row = {name: getattr(result, name) for name in names if hasattr(result, name)}
    missing = [name for name in names if name not in row]
    if missing:
        raise SchemaError(
            "RESULT_COLUMN",
            f'the result of the function has no column "{missing[0]}": {result!r:.200}',
            hint=f"Give all of the declared columns: {', '.join(names)}.",
        )
    return row


class _Tables:
    """A function of tables, asked with halves where it raises."""

    def __init__(self, step: Apply, frame: Frame, columns: Sequence[str]) -> None:
        self._step = step
        self._frame = frame
        self._control = control_columns(frame)
        # A step may ask for what every row has beside its columns.
        self._columns = list(dict.fromkeys([*columns, *self._control]))
        self._function: Callable[[Any], Any] = step.function

    def run(self) -> Applied:
        parts: list[Frame] = []
        failures: list[Failure] = []
        taken = self._ask(0, self._frame.height, parts, failures)
        nothing = pl.DataFrame(
            schema={
                **{field.name: dtype_of(field.type) for field in self._step.gives.fields},
                **{name: self._frame.schema[name] for name in self._control},
            }
        )
        whole = pl.concat([nothing, *parts]) if len(parts) != 1 else parts[0]
        return Applied(whole, failures, self._frame.height - len(failures) - taken)

    def _ask(self, start: int, end: int, parts: list[Frame], failures: list[Failure]) -> int:
        """Ask with the rows from `start` to `end`; give how many of them went into results."""
        if start == end:
            return 0
        rows = self._frame.slice(start, end - start)
        try:
            made, rows, misfits = _readable(self._called(rows.select(self._columns)), rows)
            result = self._fitted(made, rows)
        except RunError:
            raise
        except (Exception, PanicException) as error:  # noqa: BLE001  # whatever the user's code raises
            if end - start == 1:
                failures.append(failure_of(start, error))
                return 0
        else:
            parts.append(result)
            failures += [
                Failure(start + place, f"[VALUE_UNREADABLE] {why}") for place, why in misfits
            ]
            return min(end - start - len(misfits), result.height)
        half = (start + end) // 2
        one = self._ask(start, half, parts, failures)
        return one + self._ask(half, end, parts, failures)

    def _called(self, rows: Frame) -> Any:  # noqa: ANN401
        return self._function(rows.to_arrow() if self._step.shape == "arrow" else rows)

    def _fitted(self, result: Any, rows: Frame) -> Frame:  # noqa: ANN401
        """Check a result's columns and rows, and give it with control columns."""
        table = _frame_of(result, self._step)
        for name in self._step.gives.names:
            if name not in table.columns:
                raise SchemaError(
                    "RESULT_COLUMN",
                    f'the result of the function has no column "{name}"',
                    hint=f"Give all of the declared columns: {', '.join(self._step.gives.names)}.",
                )
        values = table.select(
            pl.col(field.name).cast(dtype_of(field.type)) for field in self._step.gives.fields
        )
        carried = all(name in table.columns for name in self._control if name not in ORIGIN)
        if carried:
            control = table.select(
                (pl.col(name) if name in table.columns else pl.lit(None)).alias(name)
                for name in self._control
            ).cast({name: rows.schema[name] for name in self._control})
            self._unchanged(control, rows)
            return pl.concat([values, control], how="horizontal")
        if table.height != rows.height:
            raise RunError(
                "FUNCTION_ROWS",
                f'function "{self._step.name}" made {table.height} rows of {rows.height} '
                f"({self._step.site})",
                hint="Keep the number of rows, or keep the columns that begin with _ with them.",
            )
        return pl.concat([values, rows.select(self._control)], how="horizontal")

    def _unchanged(self, control: Frame, rows: Frame) -> None:
        names = list(CONTROL)
        strange = control.join(rows.select(names), on=names, how="anti", nulls_equal=True)
        if strange.height:
            raise RunError(
                "FUNCTION_CONTROL",
                f'function "{self._step.name}" changed {", ".join(names)} ({self._step.site})',
                hint="Leave the columns that begin with _ as they are, or leave them out.",
            )


def _readable(result: Any, rows: Frame) -> tuple[Any, Frame, Sequence[tuple[int, str]]]:  # noqa: ANN401
    """Take out the rows of which a result says that there is none, with the reasons."""
    if not isinstance(result, Decoded):
        return result, rows, ()
    if not result.failures:
        return result.rows, rows, ()
    failed = sorted(result.failures.items())
    places = pl.int_range(rows.height, eager=True)
    kept = ~places.is_in([place for place, _ in failed])
    return result.rows.filter(pa.array(kept.to_numpy())), rows.filter(kept), failed


def _frame_of(result: Any, step: Apply) -> Frame:  # noqa: ANN401
    if isinstance(result, pl.LazyFrame):
        return result.collect()
    if isinstance(result, pl.DataFrame):
        return result
    if isinstance(result, (pa.Table, pa.RecordBatch)):
        frame = pl.from_arrow(result)
        assert isinstance(frame, pl.DataFrame)
        return frame
    raise RunError(
        "FUNCTION_RESULT",
        f'function "{step.name}" gave {type(result).__name__} instead of a table ({step.site})',
        hint=f"A function of shape {step.shape} takes a table and gives a table.",
    )
