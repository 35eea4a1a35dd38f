"""The SQL library: what each of its functions is computed by."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.kernel.functions.argument import Lowering
from penstock.kernel.sql.casts import cast
from penstock.kernel.sql.collections import COLLECTIONS
from penstock.kernel.sql.encodings import ENCODINGS
from penstock.kernel.sql.json_texts import JSON_TEXTS
from penstock.kernel.sql.lambdas import LAMBDAS
from penstock.kernel.sql.masks import MASKS
from penstock.kernel.sql.moments import MOMENTS
from penstock.kernel.sql.numbers import NUMBERS
from penstock.kernel.sql.operators import OPERATORS
from penstock.kernel.sql.patterns import PATTERNS
from penstock.kernel.sql.results import RESULTS
from penstock.kernel.sql.texts import TEXTS
from penstock.kernel.sql.urls import URLS

LIBRARY: Mapping[str, Lowering] = {
    **OPERATORS,
    **COLLECTIONS,
    **LAMBDAS,
    **NUMBERS,
    **TEXTS,
    **ENCODINGS,
    **MASKS,
    **PATTERNS,
    **URLS,
    **JSON_TEXTS,
    **MOMENTS,
    **RESULTS,
    "cast": cast,
}
