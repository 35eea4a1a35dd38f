"""Errors told with the user's own file and line."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from penstock.errors import PenstockError
from penstock.model.site import user_site

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def placed(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a refusal name the line of the user's program that it is about."""

    @wraps(function)
    def telling(*arguments: Parameters.args, **named: Parameters.kwargs) -> Result:
        try:
            return function(*arguments, **named)
        except PenstockError as error:
            site = user_site()
            if not site or site in error.fact:
                raise
            fact = f"{error.fact.removesuffix(' ()')} ({site})"
            raise type(error)(error.code, fact, hint=error.hint) from None

    return telling
