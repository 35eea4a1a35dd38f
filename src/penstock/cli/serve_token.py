"""`penstock serve token`: who may ask the server of a home."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.options import JsonOption, settings_of
from penstock.cli.output import examples, talk, write_json, write_line, write_list
from penstock.text.times import time_text

if TYPE_CHECKING:
    from penstock.serve.access.token_file import TokenFile

NameOption = Annotated[str, typer.Option("--name", help="What it is called, to revoke it by.")]


class RoleName(StrEnum):
    """What somebody may do."""

    READER = "reader"
    WRITER = "writer"
    ADMIN = "admin"


def register_tokens(application: typer.Typer) -> None:
    """Add the commands of this file."""
    group = typer.Typer(no_args_is_help=True)
    create_examples = examples("penstock serve token create --role reader --name grafana")
    group.command("create", epilog=create_examples)(create)
    group.command("list", epilog=examples("penstock serve token list"))(list_tokens)
    group.command("revoke", epilog=examples("penstock serve token revoke grafana"))(revoke)
    application.add_typer(
        group, name="token", help="Say who may ask the server.", epilog=create_examples
    )


def create(
    context: typer.Context,
    role: Annotated[RoleName, typer.Option("--role", help="What its owner may do.")],
    name: NameOption,
    json: JsonOption = False,
) -> None:
    """Make a token and print it: it cannot be seen again.

    From the first token on, the server answers nobody without one.
    """
    from penstock.serve.access.role import Role  # noqa: PLC0415

    word = _tokens(context).create(name, Role[role.name])
    if json:
        write_json({"name": name, "role": role.value, "token": word})
        return
    write_line(word)
    talk("keep it: it is not shown again. Send it as `Authorization: Bearer TOKEN`")


def list_tokens(context: typer.Context, json: JsonOption = False) -> None:
    """List the tokens, without themselves."""
    rows = [
        {
            "name": token.name,
            "role": token.role.name.lower(),
            "created": token.created if json else time_text(token.created, timespec="seconds"),
        }
        for token in _tokens(context).tokens()
    ]
    write_list(rows, as_json=json, none_yet="there are no tokens")


def revoke(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a token.")],
    json: JsonOption = False,
) -> None:
    """Let a token hold no longer, from the next request on."""
    tokens = _tokens(context)
    tokens.revoke(name)
    if json:
        write_json({"revoked": name})
        return
    write_line(f"revoked {name}")
    if not tokens.tokens():
        talk("no token is left: a server for this machine only answers everybody on it")


def _tokens(context: typer.Context) -> TokenFile:
    from penstock.serve.access.token_file import TokenFile  # noqa: PLC0415  # starlette: 0.1 s

    return TokenFile(settings_of(context).home.absolute())
