"""Functions of values in one row; text as the first argument names a column.

What they mean is what Spark means by the same name; docs/functions.md lists them all.
"""

from __future__ import annotations

from penstock.front.dsl.expression import Expression, Operand, Subject, call, subject


def abs(value: Subject) -> Expression:  # noqa: A001
    """Give a number without its sign."""
    return call("abs", subject(value))


def sqrt(value: Subject) -> Expression:
    """Give the square root."""
    return call("sqrt", subject(value))


def exp(value: Subject) -> Expression:
    """Give e to this power."""
    return call("exp", subject(value))


def ln(value: Subject) -> Expression:
    """Give the natural logarithm."""
    return call("ln", subject(value))


def power(value: Subject, exponent: Operand) -> Expression:
    """Give a number to a power."""
    return call("power", subject(value), exponent)


def floor(value: Subject) -> Expression:
    """Give the next whole number below."""
    return call("floor", subject(value))


def ceil(value: Subject) -> Expression:
    """Give the next whole number above."""
    return call("ceil", subject(value))


def round(value: Subject, digits: int = 0) -> Expression:  # noqa: A001
    """Round to so many digits, a half away from zero."""
    return call("round", subject(value), digits)


def is_nan(value: Subject) -> Expression:
    """Whether it is no number at all."""
    return call("is_nan", subject(value))


def coalesce(*values: Subject) -> Expression:
    """Give the first value that is not null."""
    return call("coalesce", *map(subject, values))


def greatest(*values: Subject) -> Expression:
    """Give the greatest of the values in a row, nulls left out."""
    return call("greatest", *map(subject, values))


def least(*values: Subject) -> Expression:
    """Give the least of the values in a row, nulls left out."""
    return call("least", *map(subject, values))


def nullif(value: Subject, other: Operand) -> Expression:
    """Give null where the value equals the other, else the value."""
    return call("nullif", subject(value), other)


def lower(text: Subject) -> Expression:
    """Give the text in small letters."""
    return call("lower", subject(text))


def upper(text: Subject) -> Expression:
    """Give the text in capital letters."""
    return call("upper", subject(text))


def trim(text: Subject) -> Expression:
    """Give the text without spaces at its ends."""
    return call("trim", subject(text))


def length(text: Subject) -> Expression:
    """Give the number of characters, or of bytes."""
    return call("length", subject(text))


def concat(*texts: Subject) -> Expression:
    """Join texts; null if one of them is. Use `lit` for constant text."""
    return call("concat", *map(subject, texts))


def substring(text: Subject, start: int, count: int) -> Expression:
    """Give `count` characters from number `start` on; the first is 1."""
    return call("substring", subject(text), start, count)


def replace(text: Subject, search: str, replacement: str) -> Expression:
    """Replace one text by another wherever it occurs."""
    return call("replace", subject(text), search, replacement)


def lpad(text: Subject, width: int, pad: str = " ") -> Expression:
    """Fill the text from the left up to a width, or cut it to it."""
    return call("lpad", subject(text), width, pad)


def rpad(text: Subject, width: int, pad: str = " ") -> Expression:
    """Fill the text from the right up to a width, or cut it to it."""
    return call("rpad", subject(text), width, pad)


def reverse(value: Subject) -> Expression:
    """Give a text or an array from its end."""
    return call("reverse", subject(value))


def contains(text: Subject, part: Operand) -> Expression:
    """Whether the text has a part."""
    return call("contains", subject(text), part)


def starts_with(text: Subject, part: Operand) -> Expression:
    """Whether the text begins with a part."""
    return call("starts_with", subject(text), part)


def ends_with(text: Subject, part: Operand) -> Expression:
    """Whether the text ends with a part."""
    return call("ends_with", subject(text), part)


def like(text: Subject, pattern: str) -> Expression:
    """Whether the whole text fits an SQL pattern: `%` stands for any text, `_` for a character."""
    return call("like", subject(text), pattern)


def regexp_like(text: Subject, pattern: str) -> Expression:
    """Whether a regular expression is found in the text."""
    return call("regexp_like", subject(text), pattern)


def regexp_extract(text: Subject, pattern: str, group: int = 1) -> Expression:
    """Give a group of the first match; group 0 is the match, empty text means none."""
    return call("regexp_extract", subject(text), pattern, group)


def regexp_extract_all(text: Subject, pattern: str, group: int = 1) -> Expression:
    """Give a group of every match as an array; group 0 is the whole match."""
    return call("regexp_extract_all", subject(text), pattern, group)


def regexp_replace(text: Subject, pattern: str, replacement: str) -> Expression:
    """Replace every match of a regular expression."""
    return call("regexp_replace", subject(text), pattern, replacement)


def split(text: Subject, pattern: str) -> Expression:
    """Split the text at every match of a regular expression."""
    return call("split", subject(text), pattern)


def array_size(array: Subject) -> Expression:
    """Give the number of items."""
    return call("array_size", subject(array))


def array_contains(array: Subject, item: Operand) -> Expression:
    """Whether the array has an item."""
    return call("array_contains", subject(array), item)


def element_at(value: Subject, key: Operand) -> Expression:
    """Give an item of an array by number, the first being 1, or of a map by key."""
    return call("element_at", subject(value), key)
