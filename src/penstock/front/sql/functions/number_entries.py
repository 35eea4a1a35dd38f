"""Functions of numbers."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.front.sql.functions.entry import Entry

_FLOAT = "(DOUBLE) DOUBLE"
_EACH = "(INT) INT; (BIGINT) BIGINT; (DOUBLE) DOUBLE; (DECIMAL) =first"
_MANY = (
    "(INT...) INT; (BIGINT...) BIGINT; (DOUBLE...) DOUBLE; (DECIMAL...) =widest; "
    "(STRING...) STRING; (BYTES...) BYTES; (DATE...) DATE; (TIME...) TIME; (TIMESTAMP...) TIMESTAMP"
)
_PLACES = (
    "(INT) BIGINT; (BIGINT) BIGINT; (DOUBLE) BIGINT; (DOUBLE, INT) DOUBLE; (DECIMAL) =whole; "
    "(DECIMAL, INT) =first"
)

MATHEMATICAL: Mapping[str, Entry] = {
    "ABS": Entry(_EACH, "The number without its sign.", "ABS(-3)", "3"),
    "ACOS": Entry(_FLOAT, "The angle in radians of a cosine.", "ACOS(1.0)", "0.0"),
    "ASIN": Entry(_FLOAT, "The angle in radians of a sine.", "ASIN(0.0)", "0.0"),
    "ATAN": Entry(_FLOAT, "The angle in radians of a tangent.", "ATAN(0.0)", "0.0"),
    "ATAN2": Entry(
        "(DOUBLE, DOUBLE) DOUBLE",
        "The angle of the point (x, y), given y and x.",
        "ATAN2(0.0, 1.0)",
        "0.0",
    ),
    "CBRT": Entry(_FLOAT, "The cube root.", "CBRT(8)", "2.0"),
    "CEIL": Entry(_EACH, "The next whole number above.", "CEIL(1.2E0)", "2.0"),
    "COS": Entry(_FLOAT, "The cosine of an angle in radians.", "COS(0.0)", "1.0"),
    "COSH": Entry(_FLOAT, "The hyperbolic cosine.", "COSH(0.0)", "1.0"),
    "COT": Entry(
        _FLOAT, "The cotangent of an angle in radians; infinity at 0.", "COT(0.0)", "Infinity"
    ),
    "DEGREES": Entry(_FLOAT, "Radians as degrees.", "DEGREES(PI())", "180.0"),
    "EXP": Entry(_FLOAT, "e to this power.", "EXP(0)", "1.0"),
    "FLOOR": Entry(_EACH, "The next whole number below.", "FLOOR(1.8E0)", "1.0"),
    "GEO_DISTANCE": Entry(
        "(DOUBLE, DOUBLE, DOUBLE, DOUBLE) DOUBLE; (DOUBLE, DOUBLE, DOUBLE, DOUBLE, STRING) DOUBLE",
        "The way over the globe between two places by latitude and longitude, in KM or MILES.",
        "GEO_DISTANCE(0.0, 0.0, 0.0, 0.0)",
        "0.0",
    ),
    "GREATEST": Entry(_MANY, "The greatest value; nulls are left out.", "GREATEST(1, 3, 2)", "3"),
    "LEAST": Entry(_MANY, "The least value; nulls are left out.", "LEAST(1, 3, 2)", "1"),
    "LN": Entry(_FLOAT, "The natural logarithm.", "LN(1)", "0.0"),
    "LOG": Entry(
        "(DOUBLE) DOUBLE; (DOUBLE, DOUBLE) DOUBLE",
        "The natural logarithm, or the one of a base given first.",
        "LOG(2, 8)",
        "3.0",
    ),
    "PI": Entry(
        "() DOUBLE", "The ratio of a circle and its diameter.", "PI()", "3.141592653589793"
    ),
    "POWER": Entry("(DOUBLE, DOUBLE) DOUBLE", "A number to a power.", "POWER(2, 3)", "8.0"),
    "RADIANS": Entry(_FLOAT, "Degrees as radians.", "RADIANS(0)", "0.0"),
    "RANDOM": Entry(
        "() DOUBLE",
        "A random number from 0 up to 1, another for every row.",
        "RANDOM() < 1.0",
        "true",
    ),
    "ROUND": Entry(
        _PLACES, "The number rounded to decimal places, a half upwards.", "ROUND(-1.5E0)", "-1"
    ),
    "SIGN": Entry(
        "(INT) INT; (BIGINT) INT; (DOUBLE) INT",
        "-1, 0 or 1 by the sign of the number.",
        "SIGN(-3)",
        "-1",
    ),
    "SIN": Entry(_FLOAT, "The sine of an angle in radians.", "SIN(0.0)", "0.0"),
    "SINH": Entry(_FLOAT, "The hyperbolic sine.", "SINH(0.0)", "0.0"),
    "SQRT": Entry(_FLOAT, "The square root; NaN below 0.", "SQRT(9)", "3.0"),
    "TAN": Entry(_FLOAT, "The tangent of an angle in radians.", "TAN(0.0)", "0.0"),
    "TANH": Entry(_FLOAT, "The hyperbolic tangent.", "TANH(0.0)", "0.0"),
    "TRUNC": Entry(_PLACES, "The number cut off after decimal places.", "TRUNC(-1.7E0)", "-1"),
}

CONVERSIONS: Mapping[str, Entry] = {
    name: Entry(
        f"(BYTES) {gives}; (BYTES, STRING) {gives}",
        f"The {gives} in {size} bytes, 'BIG_ENDIAN' or 'LITTLE_ENDIAN' by the second argument.",
        f"{name}(TO_BYTES('{digits}', 'hex'))",
        result,
    )
    for name, gives, size, digits, result in (
        ("INT_FROM_BYTES", "INT", 4, "00000001", "1"),
        ("BIGINT_FROM_BYTES", "BIGINT", 8, "0000000000000001", "1"),
        ("DOUBLE_FROM_BYTES", "DOUBLE", 8, "3FF0000000000000", "1.0"),
    )
}
