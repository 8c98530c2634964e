"""The pages of the reference that follow from docstrings and declarations.

They are written when the site is built (`make docs`), so that they cannot be out of date.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import typer

import queryveil as qv
from queryveil import errors
from queryveil.cli.app import app
from queryveil.cli.plugins import add_commands
from queryveil.log.readers.registry import READERS
from queryveil.measures.base import MEASURES, Measure
from queryveil.methods.base import METHODS, Method

# Methods that share a page; all others have a page of their own name.
_MICROAGGREGATION = "microaggregation"
_GUARANTEED_FIRST = ("k-anonymity", "pure-dp", "approx-dp", "conditional-dp", "none")


def pages() -> dict[str, str]:
    """Return the text of each generated page by its path below docs/."""
    return {
        "reference/api.md": api_page(),
        "reference/cli.md": cli_page(),
        "reference/formats.md": formats_page(),
        "reference/errors.md": errors_page(),
        "reference/methods/index.md": methods_page(),
    }


def api_page() -> str:
    """Return the public names of `queryveil`, in groups; mkdocstrings fills in their docstrings."""
    groups: dict[str, list[str]] = {
        "Functions": [], "Methods": [], "Measures": [], "Results and options": [], "Errors": [],
    }  # fmt: skip
    for name in sorted(qv.__all__):
        item = getattr(qv, name)
        if inspect.isfunction(item):
            groups["Functions"].append(_directive(item))
        elif not inspect.isclass(item):
            continue
        elif issubclass(item, Method) and item is not Method:
            groups["Methods"].append(_directive(item, members=False))
        elif issubclass(item, Measure) and item is not Measure:
            groups["Measures"].append(_directive(item, members=False))
        elif not issubclass(item, (Exception, Warning)):
            groups["Results and options"].append(_directive(item))
    groups["Errors"] = ["All errors are on [a page of their own](errors.md).\n"]
    head = (
        "# Python API\n\n`import queryveil as qv`. All names on this page are attributes of `qv`. "
        "[Python in ten steps](../how-to/python.md) shows them at work.\n"
    )
    return head + "".join(f"\n## {title}\n\n{''.join(items)}" for title, items in groups.items())


def _directive(item: Any, members: bool = True) -> str:
    hidden = "" if members else "    options:\n      members: false\n"
    return f"::: {item.__module__}.{item.__qualname__}\n{hidden}\n"


def cli_page() -> str:
    """Return all commands with their arguments and options."""
    add_commands(app)
    command = typer.main.get_command(app)
    head = (
        "# Commands\n\nEvery command takes `-h`. The exit code is 0 if the command did its work, "
        "1 for an error that the message explains, 2 for wrong usage, and 3 if only another "
        "version of queryveil can check everything ([errors](errors.md)).\n\n"
        "Options can stand in `queryveil.toml`, or in a file that is named before the command: "
        "`queryveil --config other.toml anonymize ...`. A section `[all]` is for all commands, "
        "and `[anonymize]` for that command.\n"
    )
    return head + "".join(_command_texts(command, ("queryveil",)))


def _command_texts(command: Any, path: tuple[str, ...]) -> Iterator[str]:
    if command.hidden:
        return
    children = getattr(command, "commands", {})
    yield f"\n## `{' '.join(path)}`\n\n{_paragraphs(command.help)}\n"
    if not children:
        arguments = [_metavar(p) for p in command.params if p.param_type_name == "argument"]
        yield f"\n```text\n{' '.join((*path, *arguments, '[OPTIONS]'))}\n```\n"
    yield from _option_tables(command.params)
    for name, child in children.items():
        yield from _command_texts(child, (*path, name))


def _option_tables(params: list[Any]) -> Iterator[str]:
    of_methods = {p.option for kind in METHODS.values() for p in kind.user_parameters()}
    shown = [p for p in params if not p.hidden and p.name != "help"]
    own = [p for p in shown if not of_methods.issuperset(p.opts)]
    panels = dict.fromkeys(p.rich_help_panel or "" for p in own)
    for panel in panels:
        yield f"\n**{panel}**\n" if panel else ""
        yield "\n| option | default | meaning |\n|---|---|---|\n"
        yield from (_option_row(p) for p in own if (p.rich_help_panel or "") == panel)
    if len(own) < len(shown):
        yield "\nAnd the parameters of the method: see [methods](methods/index.md).\n"


def _option_row(param: Any) -> str:
    is_argument = param.param_type_name == "argument"
    names = _metavar(param) if is_argument else ", ".join((*param.opts, *param.secondary_opts))
    has_default = not (param.default is None or param.default is False or callable(param.default))
    default = f"`{param.default}`" if has_default and param.default != "" else ""
    help_text = " ".join((param.help or "").split()) + (" Required." if param.required else "")
    return f"| `{names}` | {default} | {_cell(help_text)} |\n"


def _metavar(param: Any) -> str:
    return str(param.metavar or param.name).upper()


def _paragraphs(text: str | None) -> str:
    return inspect.cleandoc(text or "").replace("\b\n", "")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("[", "\\[")


def formats_page() -> str:
    """Return all input formats."""
    rows = "".join(
        f"| `{reader.name}` | {_cell(reader.title)} | {'yes' if reader.accepts_columns else 'no'} "
        f"| {_engines(reader)} | {_cell(reader.warning or '')} |\n"
        for _, reader in sorted(READERS.items())
    )
    return (
        "# Input formats\n\n[Read my format](../how-to/read-my-format.md) explains which file "
        "names imply which format, how rows are read, and what is rejected.\n\n"
        "| `--format` | description | takes `--columns` | read on | warning |\n"
        f"|---|---|---|---|---|\n{rows}"
    )


def _engines(reader: Any) -> str:
    found = (("one machine", reader.read), ("Spark", reader.spark))
    return ", ".join(name for name, function in found if function is not None)


def errors_page() -> str:
    """Return all errors and warnings, with their exit codes."""
    kinds = [
        kind
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__ and issubclass(kind, Exception)
    ]
    rows = "".join(
        f"| `{kind.__name__}` | `{kind.__bases__[0].__name__}` | {_exit_code(kind)} "
        f"| {_cell(_first_sentence(kind))} |\n"
        for kind in kinds
    )
    return (
        "# Errors\n\nA message states the problem, the value, the allowed values, and a hint. In "
        "Python every error of queryveil is a `QueryveilError` with the attributes `what`, "
        "`where` and `hint`. Messages never show the content of a row.\n\n"
        f"| class | base | exit code | meaning |\n|---|---|---|---|\n{rows}"
    )


def _exit_code(kind: type[Any]) -> str:
    return str(getattr(kind, "exit_code", "")) or "a warning"


def _first_sentence(kind: Any) -> str:
    return (inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " ")


def methods_page() -> str:
    """Return all methods with their guarantees: those with a formal guarantee first."""
    kinds = sorted(METHODS.values(), key=lambda kind: (_rank(kind), kind.name))
    rows = "".join(
        f"| [`{kind.name}`]({method_page(kind.name)}) | {_cell(kind.title)} "
        f"| {_cell(kind.guarantee_summary)} | {_cell(kind.paper)} |\n"
        for kind in kinds
    )
    return (
        "# Methods\n\n`queryveil methods NAME` prints the same for one method. [Privacy models in "
        "plain words](../../explanation/privacy-models.md) explains the guarantees.\n\n"
        f"| method | what it does | guarantee | paper |\n|---|---|---|---|\n{rows}"
    )


def _rank(kind: type[Method]) -> int:
    model = str(kind().guarantee().model)
    return _GUARANTEED_FIRST.index(model) if model in _GUARANTEED_FIRST else -1


def method_page(name: str) -> str:
    """Return the page of a method, in the folder of methods."""
    return f"{_MICROAGGREGATION if name.endswith(_MICROAGGREGATION) else name}.md"


def measures_table() -> str:
    """Return the table of all measures."""
    rows = "".join(
        f"| [`{kind.name}`](#{kind.name}) | {kind.kind} | {_cell(kind.title)} |\n"
        for _, kind in sorted(MEASURES.items())
    )
    return f"| measure | kind | what it measures |\n|---|---|---|\n{rows}"


# What stands in a page as `<!-- generated NAME -->`.
PARTS: dict[str, Callable[[], str]] = {"measures": measures_table}
