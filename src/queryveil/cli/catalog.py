"""`queryveil methods`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer

from ..engine.table import ENGINES
from ..methods.base import METHODS, Method
from . import tables
from .documents import MethodDescription, MethodList, ParameterDescription
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
    catalog = MethodList(tuple(_describe(method) for method in chosen))
    screen.result(catalog, lambda console: tables.print_methods(console, catalog.methods))


def _describe(method: type[Method]) -> MethodDescription:
    return MethodDescription(
        name=method.name,
        title=method.title,
        paper=method.paper,
        guarantee_summary=method.guarantee_summary,
        engines=tuple(ENGINES[: 1 if method.parallelism == "no" else None]),
        parameters=tuple(ParameterDescription.of(p) for p in method.user_parameters()),
    )
