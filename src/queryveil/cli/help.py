"""Show the help of commands as plain text: short, grouped, and without truncated names.

Typer parses the command line; the classes here only format its help. A long list of options is
shown in parts:

- `-h` shows the common options, and names the others,
- `-h --method NAME` shows the options of a method in full,
- `--help-all` shows everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .method_help import describe_method_options, find_method, list_method_titles
from .text import format_rows, wrap_text
from .usage_errors import CommandLineError, explain_unknown_command, explain_usage

COMMON = "Options"
METHOD_OPTIONS = "Options of the methods"
RARE = "Rarely used"
SPARK = "Spark"
OUTPUT = "Output"
_NOT_SHOWN = (METHOD_OPTIONS, RARE, SPARK)  # unless requested
_LAST = (OUTPUT, RARE, SPARK, METHOD_OPTIONS)
_HELP_OPTIONS = ["-h", "--help", "--help-all"]
_WORDS = "queryveil.words"

START = (
    ("queryveil demo", "See all steps on a synthetic log, in under a minute."),
    ("queryveil advise LOG", "Which method, which parameters, and why."),
    ("queryveil profile LOG", "What is in your log, and what is risky in it."),
)
# The groups of commands by task; a command that is not listed is among the last.
COMMAND_GROUPS: dict[str, tuple[str, ...]] = {
    "Start here": ("demo", "advise", "profile"),
    "Look": ("methods", "measures", "formats", "plan"),
    "Release": ("anonymize", "pack", "sign", "keys", "ledger"),
    "Check": ("verify", "measure"),
    "Compare": ("compare", "replicate"),
    "More": (),
}


class PlainCommand(TyperCommand):
    """A command whose help is plain text, and whose errors have a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line; raise an error of queryveil where it is wrong."""
        words = list(args)
        ctx.meta[_WORDS] = words
        try:
            return super().parse_args(ctx, args)
        except CommandLineError as error:
            raise explain_usage(error, ctx, words) from error

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write_command(self, ctx, formatter)


class PlainGroup(TyperGroup):
    """A group of commands whose help is plain text, and whose errors have a hint."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the command line up to the command; without one, show the help."""
        words = list(args)
        ctx.meta[_WORDS] = words
        if not words and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        try:
            return super().parse_args(ctx, args)
        except CommandLineError as error:
            raise explain_usage(error, ctx, words) from error

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is named first; raise an error if there is none."""
        if args and self.get_command(ctx, args[0]) is None and not ctx.resilient_parsing:
            raise explain_unknown_command(args[0], list(self.commands), ctx.command_path)
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        _write_group(self, ctx, formatter)


class Application(typer.Typer):
    """An application whose commands have plain help with an example."""

    def __init__(self, **settings: Any) -> None:
        context = {"help_option_names": list(_HELP_OPTIONS)}
        super().__init__(cls=PlainGroup, context_settings=context, **settings)

    def command(  # type: ignore[override]
        self, name: str | None = None, *, example: str | None = None, **settings: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator that adds a command; the help shows the example."""
        return super().command(name, cls=PlainCommand, epilog=example, **settings)


def _write_command(command: Any, ctx: Any, formatter: Any) -> None:
    words = ctx.meta.get(_WORDS, [])
    show_all = "--help-all" in words
    parameters = command.get_params(ctx)
    panels = _group_options(parameters)
    has_method = METHOD_OPTIONS in panels
    method = find_method(words) if has_method else None
    _write_head(command, ctx, formatter)
    if method is not None:
        _write_text(formatter, f"{method.name}: {method.title}.")
        _write_rows(formatter, f"Options of {method.name}", describe_method_options(method))
        _write_text(formatter, f"More about it: queryveil methods {method.name}")
        if not show_all:
            _write_text(formatter, f"All other options: {ctx.command_path} -h")
            return
    arguments = [(_name_argument(p), p.help) for p in parameters if _is_shown_argument(p)]
    if arguments:
        _write_rows(formatter, "Arguments", arguments)
    for panel, options in panels.items():
        if panel not in _NOT_SHOWN or (show_all and not (panel == METHOD_OPTIONS and method)):
            _write_rows(formatter, panel, [_describe_option(option) for option in options])
    if has_method and method is None and not show_all:
        _write_rows(formatter, "Methods", list_method_titles())
        _write_text(formatter, f"Options of a method: {ctx.command_path} -h --method NAME")
    rare = [p for name in (RARE, SPARK) for p in panels.get(name, ())]
    if rare and not show_all:
        names = ", ".join(max(p.opts, key=len) for p in rare)
        _write_text(formatter, f"More with --help-all: {names}")


def _write_group(group: Any, ctx: Any, formatter: Any) -> None:
    is_root = ctx.parent is None and "anonymize" in group.commands
    _write_head(group, ctx, formatter)
    described = {
        name: _first_sentence(command.help or "")
        for name, command in group.commands.items()
        if not command.hidden
    }
    if is_root:
        start, *others = arrange_commands(described).items()
        _write_rows(formatter, start[0], [row for row in START if row[0].split()[1] in start[1]])
        for title, names in others:
            _write_rows(formatter, title, [(name, described[name]) for name in names])
    else:
        _write_rows(formatter, "Commands", list(described.items()))
    if is_root:
        panels = _group_options(group.get_params(ctx))
        options = [*panels[COMMON], *panels[OUTPUT]]
        _write_rows(formatter, COMMON, [_describe_option(option) for option in options])
    _write_text(formatter, f"Help of a command: {ctx.command_path} COMMAND -h")


def arrange_commands(names: Sequence[str] | dict[str, str]) -> dict[str, list[str]]:
    """Return the commands by task; those without a task are in the last group.

    >>> arrange_commands(["verify", "synth", "demo"])
    {'Start here': ['demo'], 'Check': ['verify'], 'More': ['synth']}
    """
    listed = {name for group in COMMAND_GROUPS.values() for name in group}
    *_, last = COMMAND_GROUPS
    arranged = {
        title: [name for name in group if name in names] for title, group in COMMAND_GROUPS.items()
    }
    arranged[last] += [name for name in names if name not in listed]
    return {title: group for title, group in arranged.items() if group}


def _write_head(command: Any, ctx: Any, formatter: Any) -> None:
    formatter.write(f"Usage: {' '.join([ctx.command_path, *_list_usage(command, ctx)])}\n")
    _write_text(formatter, command.help or "")
    if command.epilog:
        formatter.write("\nExample:\n")
        formatter.write("".join(f"  {line}\n" for line in command.epilog.splitlines()))


def _list_usage(command: Any, ctx: Any) -> list[str]:
    parameters = command.get_params(ctx)
    arguments = [_name_argument(p) for p in parameters if p.param_type_name == "argument"]
    required = [
        f"{max(p.opts, key=len)} {_name_value(p)}"
        for p in parameters
        if p.param_type_name == "option" and p.required
    ]
    if hasattr(command, "commands"):
        return ["COMMAND", "[options]"]
    return [*arguments, *required, "[options]"]


def _group_options(parameters: Sequence[Any]) -> dict[str, list[Any]]:
    """Return the options by panel: those of the command itself first."""
    panels: dict[str, list[Any]] = {COMMON: []}
    for parameter in parameters:
        if parameter.param_type_name == "option" and not parameter.hidden:
            panels.setdefault(_panel_of(parameter), []).append(parameter)
    for name in _LAST:
        if name in panels:
            panels[name] = panels.pop(name)
    for options in panels.values():
        options.sort(key=lambda option: (not option.required, option.name != "method"))  # stable
    return {name: options for name, options in panels.items() if options}


def _panel_of(parameter: Any) -> str:
    if parameter.name in ("install_completion", "show_completion"):
        return RARE
    if "--help" in parameter.opts:
        return OUTPUT
    return parameter.rich_help_panel or COMMON


def _describe_option(option: Any) -> tuple[str, str]:
    if "--help" in option.opts:
        return "-h, --help, --help-all", "Show the help; --help-all: with all options."
    return _name_option(option), f"{option.help or ''}{_describe_default(option)}"


def _name_option(option: Any) -> str:
    """Return an option with its short form and its value: "-o, --out DIR"."""
    names = ", ".join([*sorted(option.opts, key=len), *option.secondary_opts])
    return names if option.is_flag else f"{names} {_name_value(option)}"


def _name_value(option: Any) -> str:
    if option.metavar:
        return str(option.metavar)
    described = getattr(option, "type_descriptor", None)
    if described is None:
        return "VALUE"
    if described.is_choice:
        return "|".join(map(str, described.choices or ()))
    kinds = {int: "N", float: "NUMBER", Path: "PATH"}
    return kinds.get(described.annotation, "TEXT")


def _describe_default(option: Any) -> str:
    if option.required:
        return " Required."
    default = option.default
    if default in (None, "", False, ()) or callable(default) or option.is_flag:
        return ""
    return f" Default: {default}."


def _name_argument(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    if argument.nargs == -1 and not name.endswith(("...", "...]")):
        name += "..."
    return name if argument.required or name.startswith("[") else f"[{name}]"


def _is_shown_argument(parameter: Any) -> bool:
    return parameter.param_type_name == "argument" and bool(parameter.help)


def _first_sentence(text: str) -> str:
    return text.partition("\n\n")[0].replace("\n", " ").strip()


def _write_rows(formatter: Any, title: str, rows: Sequence[tuple[str, str]]) -> None:
    lines = [f"{title}:", *format_rows(rows, formatter.width)]
    formatter.write("\n" + "".join(f"{line}\n" for line in lines))


def _write_text(formatter: Any, text: str) -> None:
    for paragraph in text.split("\n\n") if text else ():
        lines = wrap_text(paragraph.replace("\n", " "), formatter.width)
        formatter.write("\n" + "".join(f"{line}\n" for line in lines))
