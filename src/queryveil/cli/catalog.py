"""`queryveil methods`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..engine.table import ENGINES
from ..methods.base import METHODS, Method
from . import tables
from .options import screen_options, with_options
from .terminal import Terminal

app = typer.Typer()


@app.command()
@with_options(screen_options)
def methods(
    screen: Terminal,
    name: Annotated[str | None, typer.Argument(help="Name of a method; else all.")] = None,
) -> None:
    """List the methods with their parameters, papers and guarantees."""
    chosen = [METHODS.find(name)] if name else list(METHODS.values())
    descriptions = [_describe(method) for method in chosen]
    screen.result(
        {"methods": descriptions}, lambda console: tables.print_methods(console, descriptions)
    )


def _describe(method: type[Method]) -> dict[str, Any]:
    parameters = [
        {
            "name": declared.name,
            "option": declared.option,
            "type": declared.type.__name__,
            "default": declared.default,
            "range": declared.allowed,
            "unit": declared.unit,
            "help": declared.help,
        }
        for declared in method.user_parameters()
    ]
    about = {
        "name": method.name,
        "title": method.title,
        "paper": method.paper,
        "promise": method.guarantee_summary,
    }
    engines = ENGINES[: 1 if method.parallelism == "no" else None]
    return about | {"engines": list(engines), "parameters": parameters}
