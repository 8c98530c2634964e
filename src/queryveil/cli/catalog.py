"""`queryveil methods`: what there is to choose from."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from ..engine.table import ENGINES
from ..methods.base import METHODS, Method
from ..release.explanations import explain_guarantee
from .documents import MethodDescription, MethodList, ParameterDescription
from .help import Application
from .method_help import describe_method_options
from .options import screen_options, with_options
from .terminal import Terminal
from .text import format_rows, wrap_text

app = Application()

_NEXT = "More about one: queryveil methods NAME. Which one suits your log: queryveil advise LOG."


@app.command(example="queryveil methods semantic-microaggregation")
@with_options(screen_options)
def methods(
    screen: Terminal,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of a method.")] = None,
) -> None:
    """List the methods, or show one with its guarantee, its paper and its options."""
    chosen = [METHODS.find(name)] if name else list(METHODS.values())
    catalog = MethodList(tuple(_describe(method) for method in chosen))
    described = dict(zip(chosen, catalog.methods, strict=True))
    screen.result(catalog, lambda console: _draw(console, described, is_list=name is None))


def _describe(method: type[Method]) -> MethodDescription:
    return MethodDescription(
        name=method.name,
        title=method.title,
        paper=method.paper,
        guarantee_summary=method.guarantee_summary,
        explained=explain_guarantee(method().guarantee()),
        good_for=method.good_for,
        engines=tuple(ENGINES[: 1 if method.parallelism == "no" else None]),
        parameters=tuple(ParameterDescription.of(p) for p in method.user_parameters()),
    )


def _draw(
    console: Console, described: dict[type[Method], MethodDescription], *, is_list: bool
) -> None:
    width = min(console.width, 80)
    if is_list:
        rows = [(about.name, _summarize(about)) for about in described.values()]
        lines = [*format_rows(rows, width), "", *wrap_text(_NEXT, width)]
    else:
        lines = [line for item in described.items() for line in _describe_in_full(*item, width)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _summarize(about: MethodDescription) -> str:
    return f"{about.title}. Guarantee: {about.guarantee_summary}."


def _describe_in_full(method: type[Method], about: MethodDescription, width: int) -> list[str]:
    """Return the lines on one method."""
    guarantee = f"{about.guarantee_summary}."
    if about.explained:
        guarantee += f" With the default parameters: {about.explained}."
    facts = [
        ("guarantee", guarantee),
        ("paper", about.paper),
        ("runs on", ", ".join(about.engines)),
    ]
    if about.good_for:
        facts.insert(0, ("good for", f"{about.good_for}."))
    example = f"queryveil anonymize log.tsv --method {about.name} --out release"
    return [
        *wrap_text(f"{about.name}: {about.title}.", width),
        "",
        *format_rows(facts, width),
        "",
        "Options:",
        *format_rows(describe_method_options(method), width),
        "",
        "Example:",
        f"  {example}",
    ]
