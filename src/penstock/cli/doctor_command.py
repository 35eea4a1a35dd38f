"""`penstock doctor`: whether this machine has what Penstock needs, and what to do if not."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import decorated, examples, waiting, write_json, write_line

if TYPE_CHECKING:
    from penstock.doctor.examine import Finding

_COLOURS = {"ok": "32", "failed": "1;31", "skipped": "33"}


def register(application: typer.Typer) -> None:
    """Add the command of this file."""
    application.command(
        "doctor",
        epilog=examples("penstock doctor", "penstock doctor --quick", "penstock doctor --json"),
    )(doctor)


def doctor(
    context: typer.Context,
    quick: Annotated[bool, typer.Option("--quick", help="Do not start Spark.")] = False,
    json: JsonOption = False,
) -> None:
    """Check that this machine has what Penstock needs."""
    from penstock.doctor.examine import examine  # noqa: PLC0415  # only this command needs it

    settings = settings_of(context)
    findings = []
    with waiting("asking the machine"):
        for finding in examine(settings, skip=frozenset({"spark"} if quick else ())):
            findings.append(finding)
            if not json:
                _write(finding)
    if json:
        write_json([asdict(finding) for finding in findings])
    if any(finding.verdict == "failed" for finding in findings):
        raise typer.Exit(1)


def _write(finding: Finding) -> None:
    verdict = f"{finding.verdict:<7}"
    if decorated(sys.stdout):
        verdict = f"\x1b[{_COLOURS[finding.verdict]}m{verdict}\x1b[0m"
    code = f"[{finding.code}] " if finding.code else ""
    write_line(f"{verdict}  {finding.check:<12}  {code}{finding.fact}")
    if finding.fix:
        write_line(f"{'':23}{finding.fix}")
    sys.stdout.flush()
