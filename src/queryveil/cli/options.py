"""Options that several commands share, declared once.

A command names the groups it takes. Their options are put into its signature, from which
Typer makes the help and the parsing; the command itself gets one ready object a group. The
options of the methods are made from the methods' own declarations.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..concepts.mapping.mapper import TAGGERS, Mapper
from ..core.parameters import Parameter
from ..core.randomness import RandomSource
from ..engine.table import ENGINES, EngineConfig
from ..errors import UsageError
from ..log.options import ReadOptions
from ..log.query_log import QueryLog
from ..log.readers.registry import READERS
from ..log.reading import read_log
from ..log.screening import check_setting
from ..methods.base import Method, all_methods, get_method, parse_method
from ..workflows.taxonomies import make_mapper
from .config import parse_fraction, parse_sample, parse_settings, parse_size, read_user_list
from .terminal import Terminal


def _known_setting(setting: str | None) -> str | None:
    """Check what shall become of identifiers, before any log is opened."""
    if setting is not None:
        check_setting(setting)
    return setting


Identifiers = Annotated[
    str,
    typer.Option(
        help="What looks like an e-mail address, phone number, ...: drop, mask or keep.",
        callback=_known_setting,
    ),
]
AppendedIdentifiers = Annotated[
    str | None,
    typer.Option(
        "--identifiers",
        help="What looks like an e-mail address, phone number, ...: drop (or as the release that "
        "--append names), mask or keep.",
        callback=_known_setting,
    ),
]
_LOG, _METHOD, _MEANING, _OUTPUT = "The log", "The method", "What queries mean", "Output"
_CLUSTER = "The machines"


@dataclass(frozen=True)
class OptionGroup:
    """Some options, and what becomes of them: the argument `name` of the command.

    `make` gets the values, and the names of those that were typed on the command line; the
    others come from the config file or are defaults.
    """

    name: str
    options: Callable[[], list[inspect.Parameter]]
    make: Callable[[dict[str, Any], set[str]], Any]


def with_options(*groups: OptionGroup) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of these groups."""

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        names = {group.name for group in groups}
        shared = {group.name: group.options() for group in groups}
        kept = [p.replace(kind=p.KEYWORD_ONLY) for name, p in own.items() if name not in names]
        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        listed = [context, *kept, *(p for options in shared.values() for p in options)]

        @functools.wraps(command)
        def called(ctx: typer.Context, **given: Any) -> None:
            typed = {name for name in given if _is_typed(ctx, name)}
            for group in groups:
                values = {p.name: given.pop(p.name) for p in shared[group.name]}
                given[group.name] = group.make(values, typed)
            command(**given)

        called.__signature__ = inspect.Signature(listed)  # type: ignore[attr-defined]
        called.__annotations__ = {p.name: p.annotation for p in listed}
        return called

    return wrap


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(
    name: str, kind: Any, says: str, panel: str, default: Any = None, **more: Any
) -> inspect.Parameter:
    flags = more.pop("flags", ("--" + name.replace("_", "-"),))
    about = typer.Option(*flags, help=says, rich_help_panel=panel, **more)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, about]
    )


@dataclass(frozen=True)
class LogArguments:
    """The log that a command was asked to read."""

    paths: list[str]
    options: ReadOptions
    engine: EngineConfig = field(default_factory=EngineConfig)

    def read(self, screen: Terminal, seed: int | None = None, *, may_stop: bool = True) -> QueryLog:
        """Read it; with `may_stop` unset its rows can stop nothing."""
        options = replace(self.options, may_stop=may_stop)
        return read_log(
            self.paths, options, engine=self.engine, chance=RandomSource(seed), progress=screen
        )

    def check_named(self) -> None:
        """Refuse a command without a log, where only some of its uses need none."""
        if not self.paths:
            raise UsageError("no log is named", hint="name its files: LOG...")


def _log_parameters(default: Any = inspect.Parameter.empty) -> list[inspect.Parameter]:
    formats = ", ".join(reader.name for reader in READERS)
    metavar = "LOG..." if default is inspect.Parameter.empty else "[LOG...]"
    paths = inspect.Parameter(
        "log",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            list[str] if default is inspect.Parameter.empty else list[str] | None,
            typer.Argument(metavar=metavar, help="Files or patterns; plain, .gz or .zst."),
        ],
    )
    text = str | None
    return [
        paths,
        _option(
            "format",
            text,
            f"Format of the log: {formats}. Told by the file's name if not given.",
            _LOG,
        ),
        _option("columns", text, "Which column is which: user=uid,query=q,time=ts,...", _LOG),
        _option("since", text, "First day to keep, as 2006-03-01.", _LOG),
        _option("until", text, "Last day to keep.", _LOG),
        _option("sample_users", text, "Users to keep, drawn at random: 1000, or 5%.", _LOG),
        _option("exclude_users", Path | None, "File of users to leave out, one a line.", _LOG),
        _option("max_rejected", str, "Share of unreadable rows at which to stop.", _LOG, "1%"),
        _option("max_expanded", text, "Size that a packed file may expand to: 20 GB.", _LOG),
        _option("encoding", str, "Encoding of text files.", _LOG, "utf-8"),
        _option("time_format", text, 'How times are written: "%d/%m/%Y %H:%M".', _LOG),
        _option(
            "delimiter", text, "Sign between cells of CSV and TSV; else as in the header.", _LOG
        ),
        _option("quote", text, 'Quotation mark around cells of CSV and TSV: " or none.', _LOG),
        _option("query_parameter", str, "Where an access log has the query.", _LOG, "q"),
        _option("engine", str, f"Where the work is done: {', '.join(ENGINES)}.", _CLUSTER, "local"),
        _option("master", text, "The cluster: spark://host:7077, yarn, local[4].", _CLUSTER),
        _option("scratch", text, "Folder that all its machines see: hdfs:///tmp/qv.", _CLUSTER),
        _option("spark", text, "Settings: spark.executor.memory=4g,...", _CLUSTER),
    ]


def _make_log(given: dict[str, Any], typed: set[str]) -> LogArguments:  # noqa: ARG001
    sample = given["sample_users"]
    exclude, expanded = given["exclude_users"], given["max_expanded"]
    options = ReadOptions(
        format=given["format"],
        columns=given["columns"] or {},
        since=given["since"],
        until=given["until"],
        sample_users=parse_sample(sample) if sample else None,
        exclude_users=read_user_list(exclude) if exclude else frozenset(),
        max_rejected=parse_fraction(given["max_rejected"]),
        max_decompressed_size=parse_size(expanded) if expanded else None,
        encoding=given["encoding"],
        time_format=given["time_format"],
        quote=given["quote"],
        delimiter=given["delimiter"],
        query_parameter=given["query_parameter"],
    )
    settings = parse_settings(given["spark"] or "")
    engine = EngineConfig(given["engine"], given["master"], given["scratch"], settings)
    return LogArguments(given["log"] or [], options, engine)


def _method_parameters(default: Any = inspect.Parameter.empty) -> list[inspect.Parameter]:
    says = "Name of the method, see `queryveil methods`; also as one line: frequent-queries:n=20."
    shared: dict[str, list[tuple[str, Parameter]]] = {}
    for name, method in all_methods().items():
        for declared in method.parameters():
            shared.setdefault(declared.name, []).append((name, declared))
    return [
        _option("method", str if default is not None else str | None, says, _METHOD, default),
        *(_method_option(name, users) for name, users in shared.items()),
    ]


def _method_option(name: str, users: list[tuple[str, Parameter]]) -> inspect.Parameter:
    first = users[0][1]
    option = name.replace("_", "-")
    flags = (f"--{option}/--no-{option}",) if first.type is bool else (first.option,)
    methods = ", ".join(method for method, _ in users)
    defaults = {str(declared.default) for _, declared in users}
    usual = f" (default {defaults.pop()})" if len(defaults) == 1 else ""
    says = f"{first.help[0].upper()}{first.help[1:]}; {first.allowed}{usual}. For {methods}."
    return _option(name, (bool if first.type is bool else str) | None, says, _METHOD, flags=flags)


def _make_method(given: dict[str, Any], typed: set[str]) -> Method:
    """Make the method that was asked for; what is typed beats what the config file says."""
    text = given.pop("method")
    asked = {name: value for name, value in given.items() if value is not None}
    if ":" not in text:
        return get_method(text).from_params(asked)
    whole, line_typed = parse_method(text), "method" in typed
    if any((name in typed) == line_typed for name in asked):
        raise UsageError(
            f'parameters are given twice, in "{text}" and as options', hint="use one of the two"
        )
    return whole if line_typed else whole.from_params(whole.params() | asked)


@dataclass(frozen=True)
class MethodArguments:
    """The method that a command was asked for, where another thing can name it too."""

    given: dict[str, Any]
    typed: set[str]

    def make(self) -> Method:
        """Make the method, which must be named."""
        if self.given["method"] is None:
            raise UsageError("no method is named: --method is missing", hint="queryveil methods")
        return _make_method(dict(self.given), self.typed)

    def typed_options(self) -> list[str]:
        """Return the options of methods that were typed."""
        return ["--" + name.replace("_", "-") for name in sorted(self.typed & self.given.keys())]

    def make_if_typed(self) -> Method | None:
        """Make the method if it was typed; what the config file says is for other commands."""
        if "method" in self.typed:
            return self.make()
        typed = self.typed_options()
        if typed:
            options = ", ".join(typed)
            raise UsageError(
                f"{options} without --method, which is that of the release",
                hint="leave it out, or give --method and all its parameters again",
            )
        return None


def check_groups_of(groups_of: Path | None, append: Path | None, copy_of: Path | None) -> None:
    """Refuse to keep groups where no new release is made."""
    if groups_of is not None and (append is not None or copy_of is not None):
        raise UsageError(
            f"--groups-of with {'--append' if append is not None else '--copy-of'}",
            hint="--groups-of is for a new release of the microaggregation family",
        )


@dataclass(frozen=True)
class MapperArguments:
    """How a command was asked to find what queries mean."""

    taxonomy: str
    language: str | None
    tagger: str | None
    terms: Path | None

    @property
    def wanted(self) -> bool:
        """Whether concepts are wanted at all."""
        return self.taxonomy != "none"

    def make(self) -> Mapper:
        """Open the taxonomy and make it ready."""
        return make_mapper(
            self.taxonomy, language=self.language, tagger=self.tagger, terms=self.terms
        )


def _mapper_parameters() -> list[inspect.Parameter]:
    says = "wordnet, a .qvt file, a path list; several with commas; none for none."
    return [
        _option("taxonomy", str, says, _MEANING, "wordnet"),
        _option("language", str | None, "Language of the queries: english, german, ...", _MEANING),
        _option("tagger", str | None, f"Part-of-speech tagger: {', '.join(TAGGERS)}.", _MEANING),
        _option(
            "terms", Path | None, "Your own terms: a term, a tab and a concept a line.", _MEANING
        ),
    ]


def _screen_parameters() -> list[inspect.Parameter]:
    return [
        _option("as_json", bool, "Print one JSON document.", _OUTPUT, False, flags=("--json",)),
        _option(
            "quiet", bool, "Print nothing but errors.", _OUTPUT, False, flags=("--quiet", "-q")
        ),
    ]


log_options = OptionGroup("log", _log_parameters, _make_log)
optional_log_options = OptionGroup("log", lambda: _log_parameters(None), _make_log)
method_options = OptionGroup("method", _method_parameters, _make_method)
optional_method_options = OptionGroup("method", lambda: _method_parameters(None), MethodArguments)
mapper_options = OptionGroup(
    "mapper", _mapper_parameters, lambda given, _: MapperArguments(**given)
)
screen_options = OptionGroup("screen", _screen_parameters, lambda given, _: Terminal(**given))
