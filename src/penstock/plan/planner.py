"""From what the user means to what is run."""

from __future__ import annotations

from penstock.model.physical import Physical, Settings
from penstock.model.plan import Plan
from penstock.plan.logical import Logical, improve
from penstock.plan.lower import lower
from penstock.plan.refuse import refuse
from penstock.plan.settle_tables import settle_tables

DEFAULT_SETTINGS = Settings()


def plan(program: Plan, settings: Settings = DEFAULT_SETTINGS) -> Physical:
    """Give the physical plan of a program; one that cannot be run is refused here."""
    refuse(program, settings)
    return lowered(improve(program), settings)


def lowered(logical: Logical, settings: Settings) -> Physical:
    """Give what is run of a program that the rules have improved."""
    return lower(settle_tables(logical.program), settings)
