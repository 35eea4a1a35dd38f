"""`penstock alerts`: which rules there are, what fires, and how to watch, try and silence them."""

from __future__ import annotations

import getpass
import signal
import sys
import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.counted import counted
from penstock.cli.opened_log import log_exists, opened_log
from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_table
from penstock.cli.served import asked_server, refuse_server
from penstock.errors import PenstockError, UsageError
from penstock.text.durations import parse_duration
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.client.server import Server
    from penstock.config import Settings
    from penstock.watch.alert import Alert
    from penstock.watch.overview import Overview, RuleView
    from penstock.watch.rule import Rule

_NOTHING = "-"


def complete_rule(ctx: typer.Context, incomplete: str) -> list[str]:
    """Complete a rule's name."""
    try:
        names = sorted(settings_of(ctx).alerts)
    except PenstockError:
        # There is nobody to tell during completion; the command itself will say what is wrong.
        return []
    return [name for name in names if name.startswith(incomplete)]


RuleArgument = Annotated[
    str,
    typer.Argument(
        metavar="RULE", help="A rule's name, as in [alerts.RULE].", autocompletion=complete_rule
    ),
]


def register(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    group.command("list", epilog=examples("penstock alerts list", "penstock alerts list --json"))(
        list_rules
    )
    group.command("run", epilog=examples("penstock alerts run", "penstock alerts run --once"))(run)
    group.command(
        "test",
        epilog=examples(
            "penstock alerts test failing_pages", "penstock alerts test failing_pages --send"
        ),
    )(try_rule)
    group.command(
        "silence",
        epilog=examples(
            "penstock alerts silence failing_pages --for 2h --reason 'new release'",
            "penstock alerts silence failing_pages --end",
        ),
    )(silence)
    application.add_typer(
        group,
        name="alerts",
        help="See what the rules of [alerts] say, watch, try and silence them.",
        epilog=examples("penstock alerts list", "penstock alerts run"),
    )


def list_rules(context: typer.Context, json: JsonOption = False) -> None:
    """List the rules, the alerts that are pending or firing, and receivers that do not answer."""
    server = asked_server(context)
    if server is not None:
        _list_served(server.get("/alerts"), json=json)
        return
    found = _overview(context)
    if json:
        from penstock.watch.overview_document import overview_document  # noqa: PLC0415

        write_json(overview_document(found))
        return
    if not found.rules:
        talk("there are no rules; write one into penstock.toml: [alerts.NAME]")
        return
    columns = ("rule", "on", "when", "state", "silenced until", "problem")
    write_table(columns, [_row(view) for view in found.rules])
    live = [alert for view in found.rules for alert in view.alerts]
    if live:
        write_line("")
        shown = ("rule", "state", "key", "since", "message")
        write_table(shown, [_alert_row(alert) for alert in live])
    for target, status in found.receivers.items():
        if status["problem"]:
            talk(f"{target} has not taken {status['waiting']} alerts: {status['problem']}")
    if not found.watched:
        talk("nobody watches; begin with: penstock alerts run")


def run(
    context: typer.Context,
    once: Annotated[bool, typer.Option("--once", help="Look once and end.")] = False,
    json: JsonOption = False,
) -> None:
    """Watch the rules until Ctrl-C, and print each alert that is written down."""
    from penstock.watch.watcher import EVERY, Watcher  # noqa: PLC0415  # polars: 0.2 s

    refuse_server(context, "penstock alerts run")

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    settings = settings_of(context)
    watcher = Watcher(settings.home, settings=settings)
    with watcher.opened() as watch:
        if not once:
            talk(f"watching {counted(len(watcher.rules), 'rule')}; Ctrl-C stops")
        while True:
            for alert in watch.look():
                _show(alert, json=json)
            watch.deliver()
            if once:
                return
            threading.Event().wait(EVERY.total_seconds())


def try_rule(
    context: typer.Context,
    name: RuleArgument,
    send: Annotated[
        bool,
        typer.Option("--send", help="Send a message that says it is a trial to all receivers."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show for which keys a rule holds now. Nothing is written down."""
    from penstock.clock import SYSTEM_CLOCK  # noqa: PLC0415
    from penstock.watch.observing import Sources  # noqa: PLC0415
    from penstock.watch.sending import sender_of  # noqa: PLC0415
    from penstock.watch.trial import holding, send_trial  # noqa: PLC0415

    refuse_server(context, "penstock alerts test")
    settings = settings_of(context)
    rule = _rule(settings, name)
    now = SYSTEM_CLOCK.now()
    with opened_log(context) as log:
        found = holding(rule, Sources(settings.home, log, settings), now)
    from penstock.watch.sighting import json_text  # noqa: PLC0415

    rows = [{"key": seen.key, "value": json_text(seen.row)} for seen in found]
    if json:
        write_json(rows)
    elif rows:
        write_table(("key", "value"), [tuple(row.values()) for row in rows])
    else:
        talk(f'rule "{name}" holds for nothing now')
    if send:
        send_trial(rule, sender_of(settings), now)
        talk(f"sent to {', '.join(map(str, rule.receivers)) or 'nobody: the rule names none'}")


def silence(  # noqa: PLR0913  # each parameter is an option
    context: typer.Context,
    name: RuleArgument,
    *,
    length: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="How long: 30m, 2h, 1d.")
    ] = None,
    key: Annotated[
        str, typer.Option("--key", metavar="JSON", help="Only this key, as `list` shows it.")
    ] = "",
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for others.")] = "",
    end: Annotated[bool, typer.Option("--end", help="Let it be told again.")] = False,
    json: JsonOption = False,
) -> None:
    """Tell nobody of a rule's alerts for a while. They are written down all the same."""
    from penstock.clock import SYSTEM_CLOCK  # noqa: PLC0415
    from penstock.watch.silence import Silence, silences  # noqa: PLC0415

    if end == (length is not None):
        raise UsageError(
            "ALERT_SILENCE",
            f'a silence of rule "{name}" is to begin and to end, or neither',
            hint="Give --for 2h to begin it, or --end to end it.",
        )
    server = asked_server(context)
    if server is not None:
        _silence_at(server, name, {"length": length, "key": key, "reason": reason}, json=json)
        return
    settings = settings_of(context)
    _rule(settings, name)
    now = SYSTEM_CLOCK.now()
    until = now
    if length is None:
        silences(settings.home).end(name, key, now)
        talk(f'rule "{name}" is told again')
    else:
        until += round(parse_duration(length).total_seconds() * 1000)
        silences(settings.home).add(Silence(name, until, key, getpass.getuser(), reason), now)
        talk(f'rule "{name}" is silent until {time_text(until)}')
    if json:
        write_json({"rule": name, "key": key, "until": until})


def _silence_at(server: Server, name: str, wanted: dict[str, str | None], *, json: bool) -> None:
    from urllib.parse import quote  # noqa: PLC0415

    path = f"/alerts/{quote(name, safe='')}/silence"
    if wanted["length"] is None:
        done = server.delete(path, key=wanted["key"])
        talk(f'rule "{name}" is told again')
    else:
        done = server.post(path, wanted)
        talk(f'rule "{name}" is silent until {time_text(done["until"])}')
    if json:
        write_json(done)


def _list_served(found: dict[str, Any], *, json: bool) -> None:
    """Show what a server says of its rules as that of a home is shown."""
    if json:
        write_json(found)
        return
    rules = found["rules"]
    if not rules:
        talk("there are no rules; write one into penstock.toml: [alerts.NAME]")
        return
    columns = ("rule", "on", "when", "state", "silenced until", "problem")
    write_table(columns, [_served_row(rule) for rule in rules])
    live = [alert for rule in rules for alert in rule["alerts"]]
    if live:
        write_line("")
        shown = ("rule", "state", "key", "since", "message")
        write_table(shown, [_served_alert(alert) for alert in live])
    for target, status in found["receivers"].items():
        if status["problem"]:
            talk(f"{target} has not taken {status['waiting']} alerts: {status['problem']}")
    if not found["watched"]:
        talk("nobody watches; begin with: penstock alerts run")


def _served_row(rule: dict[str, Any]) -> tuple[str, ...]:
    counts = {state: sum(one["state"] == state for one in rule["alerts"]) for state in _LIVE}
    state = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "calm"
    until = max((one["until"] for one in rule["silences"]), default=None)
    ((watched, place),) = rule["on"].items()
    return (
        rule["rule"],
        f"{watched} {place}",
        rule["when"] or "nothing comes",
        state,
        _NOTHING if until is None else time_text(until, timespec="seconds"),
        rule["problem"] or _NOTHING,
    )


def _served_alert(alert: dict[str, Any]) -> tuple[str, ...]:
    from penstock.watch.sighting import json_text  # noqa: PLC0415

    key = json_text(alert["key"])
    return (alert["rule"], alert["state"], key, alert["since"], alert["message"])


def _overview(context: typer.Context) -> Overview:
    from penstock.clock import SYSTEM_CLOCK  # noqa: PLC0415
    from penstock.watch.made_rules import rules_now  # noqa: PLC0415
    from penstock.watch.overview import overview  # noqa: PLC0415

    settings = settings_of(context)
    rules = rules_now(settings.home, settings.alerts)
    if not log_exists(context):
        return overview(settings.home, rules, None, SYSTEM_CLOCK.now())
    with opened_log(context) as log:
        return overview(settings.home, rules, log, SYSTEM_CLOCK.now())


def _rule(settings: Settings, name: str) -> Rule:
    from penstock.watch.made_rules import rule_tables  # noqa: PLC0415
    from penstock.watch.rule_document import require_rule  # noqa: PLC0415

    return require_rule(rule_tables(settings.home, settings.alerts), name)


def _row(view: RuleView) -> tuple[str, ...]:
    rule = view.rule
    counts = {state: sum(alert.state == state for alert in view.alerts) for state in _LIVE}
    state = ", ".join(f"{count} {state}" for state, count in counts.items() if count) or "calm"
    until = max((silence.until for silence in view.silences), default=None)
    return (
        rule.name,
        f"{rule.watched} {rule.place}",
        rule.when or "nothing comes",
        state,
        _NOTHING if until is None else time_text(until, timespec="seconds"),
        view.problem or _NOTHING,
    )


_LIVE = ("firing", "pending")


def _alert_row(alert: Alert) -> tuple[str, ...]:
    since = time_text(alert.since, timespec="seconds")
    return (alert.rule, alert.state, alert.key, since, alert.message)


def _show(alert: Alert, *, json: bool) -> None:
    from penstock.watch.message import alert_document  # noqa: PLC0415

    if json:
        write_json(alert_document(alert))
    else:
        write_line(f"{time_text(alert.at)}  {alert.state:<9}  {alert.message}")
    sys.stdout.flush()
