"""Declare the options that several commands share.

A command names its groups of options. They are added to its signature, from which Typer builds
the help and the parser; the command itself receives one object per group. The options of the
methods are built from the declared parameters of the methods.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..concepts.loaders.base import LoaderOption
from ..concepts.loaders.registry import TAXONOMY_LOADERS
from ..concepts.mapping.mapper import TAGGERS, Mapper
from ..core.parameters import Parameter
from ..core.randomness import RandomSource
from ..engine.table import ENGINES, EngineConfig
from ..errors import UsageError
from ..log.options import ReadOptions
from ..log.query_log import QueryLog
from ..log.readers.registry import READERS
from ..log.reading import read_log
from ..methods.base import METHODS, Method, parse_method
from ..workflows.taxonomies import make_mapper
from .config import (
    MethodValue,
    parse_fraction,
    parse_sample,
    parse_settings,
    parse_size,
    read_user_list,
)
from .help import COMMON, METHOD_OPTIONS, OUTPUT, RARE, SPARK
from .method_help import describe_parameter, name_value
from .terminal import Terminal

_LOG, _MEANING = "The log", "The meaning of queries"
_LOADER = "The knowledge base"
# What the help shows in place of a value.
_VALUES = {
    "columns": "NAMES", "delimiter": "CHARACTER", "encoding": "NAME", "engine": "NAME",
    "exclude_users": "FILE", "format": "NAME", "language": "CODE",
    "max_decompressed_size": "SIZE", "max_rejected": "FRACTION", "method": "NAME",
    "query_parameter": "NAME", "quote": "CHARACTER", "sample_users": "NUMBER", "sheet": "NAME",
    "since": "DATE",
    "spark_config": "SETTINGS", "spark_master": "URL", "spark_scratch": "FOLDER",
    "tagger": "NAME", "taxonomy": "NAME", "terms": "FILE", "time_format": "FORMAT", "until": "DATE",
}  # fmt: skip


@dataclass(frozen=True)
class OptionGroup:
    """A group of options, which a command receives as the argument `name`.

    `make` receives the values, and the names of those that were typed on the command line; the
    other values come from the config file or are defaults.
    """

    name: str
    options: Callable[[], list[inspect.Parameter]]
    make: Callable[[dict[str, Any], set[str]], Any]


def with_options(*groups: OptionGroup) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that adds the options of these groups to a command."""

    def wrap(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        names = {group.name for group in groups}
        shared = {group.name: group.options() for group in groups}
        own_options = [
            p.replace(kind=p.KEYWORD_ONLY) for name, p in own.items() if name not in names
        ]
        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        signature = [context, *own_options, *(p for options in shared.values() for p in options)]

        @functools.wraps(command)
        def wrapper(ctx: typer.Context, **arguments: Any) -> None:
            typed = {name for name in arguments if _is_typed(ctx, name)}
            for group in groups:
                values = {p.name: arguments.pop(p.name) for p in shared[group.name]}
                arguments[group.name] = group.make(values, typed)
            command(**arguments)

        wrapper.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in signature}
        return wrapper

    return wrap


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _option(
    name: str, annotation: Any, text: str, panel: str, default: Any = None, **extra: Any
) -> inspect.Parameter:
    flags = extra.pop("flags", ("--" + name.replace("_", "-"),))
    extra.setdefault("metavar", _VALUES.get(name))
    option = typer.Option(*flags, help=text, rich_help_panel=panel, **extra)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[annotation, option],
    )


@dataclass(frozen=True)
class LogArguments:
    """The log that a command reads."""

    paths: list[str]
    options: ReadOptions
    engine: EngineConfig = field(default_factory=EngineConfig)

    def read(self, screen: Terminal, seed: int | None = None, *, may_stop: bool = True) -> QueryLog:
        """Read the log; if `may_stop` is false, no row of it can cause an error."""
        options = replace(self.options, may_stop=may_stop)
        return read_log(
            self.paths, options, engine=self.engine, rng=RandomSource(seed), progress=screen
        )

    def check_named(self) -> None:
        """Raise an error if no log is named; some uses of a command need none."""
        if not self.paths:
            raise UsageError("no log is named", hint="name its files: LOG...")


def _log_parameters(default: Any = inspect.Parameter.empty) -> list[inspect.Parameter]:
    formats = ", ".join(READERS)
    metavar = "LOG..." if default is inspect.Parameter.empty else "[LOG...]"
    paths = inspect.Parameter(
        "log",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[
            list[str] if default is inspect.Parameter.empty else list[str] | None,
            typer.Argument(
                metavar=metavar, help="Files or patterns, plain, .gz or .zst; - reads a pipe."
            ),
        ],
    )
    optional_text = str | None
    return [
        paths,
        _option(
            "format",
            optional_text,
            f"Format of the log: {formats}. Else by the file name.",
            _LOG,
        ),
        _option(
            "columns", optional_text, "Names of the columns: user=uid,query=q,time=ts,...", _LOG
        ),
        _option("since", optional_text, "First day to keep, as 2006-03-01.", _LOG),
        _option("until", optional_text, "Last day to keep.", _LOG),
        _option("sample_users", optional_text, "Random sample of users: 1000, or 5%.", _LOG),
        _option("exclude_users", Path | None, "File of users to leave out, one per line.", RARE),
        _option(
            "max_rejected", str, "Fraction of unreadable rows above which to stop.", RARE, "1%"
        ),
        _option(
            "max_decompressed_size",
            optional_text,
            "Maximum size of a decompressed file: 20 GB.",
            RARE,
        ),
        _option("encoding", str, "Encoding of text files: cp1252, utf-16.", RARE, "utf-8"),
        _option("time_format", optional_text, 'Format of times: "%d/%m/%Y %H:%M".', _LOG),
        _option(
            "delimiter",
            optional_text,
            "Separator of cells in CSV and TSV; else as in the header.",
            _LOG,
        ),
        _option(
            "quote", optional_text, 'Quotation mark around cells of CSV and TSV: " or none.', RARE
        ),
        _option("sheet", optional_text, "Sheet of an Excel file; else the first.", RARE),
        _option(
            "query_parameter", str, "URL parameter that has the query in an access log.", RARE, "q"
        ),
        _option("engine", str, f"Where the work is done: {', '.join(ENGINES)}.", SPARK, "local"),
        _option(
            "spark_master",
            optional_text,
            "The cluster: spark://host:7077, yarn, local[4].",
            SPARK,
        ),
        _option(
            "spark_scratch",
            optional_text,
            "Folder that all machines of the cluster can read: hdfs:///tmp/qv.",
            SPARK,
        ),
        _option(
            "spark_config",
            optional_text,
            "Settings of Spark: spark.executor.memory=4g,...",
            SPARK,
        ),
    ]


def _build_log_arguments(values: dict[str, Any], typed: set[str]) -> LogArguments:  # noqa: ARG001
    sample = values["sample_users"]
    exclude, expanded = values["exclude_users"], values["max_decompressed_size"]
    options = ReadOptions(
        format=values["format"],
        columns=values["columns"] or {},
        since=values["since"],
        until=values["until"],
        sample_users=parse_sample(sample) if sample else None,
        exclude_users=read_user_list(exclude) if exclude else frozenset(),
        max_rejected=parse_fraction(values["max_rejected"]),
        max_decompressed_size=parse_size(expanded) if expanded else None,
        encoding=values["encoding"],
        time_format=values["time_format"],
        quote=values["quote"],
        delimiter=values["delimiter"],
        query_parameter=values["query_parameter"],
        sheet=values["sheet"],
    )
    settings = parse_settings(values["spark_config"] or "")
    engine = EngineConfig(
        values["engine"], values["spark_master"], values["spark_scratch"], settings
    )
    return LogArguments(values["log"] or [], options, engine)


def _method_parameters(default: Any = inspect.Parameter.empty) -> list[inspect.Parameter]:
    text = "Name of a method, or its spec: semantic-microaggregation:k=5."
    shared: dict[str, list[tuple[str, Parameter]]] = {}
    for name, method in METHODS.items():
        for declared in method.user_parameters():
            shared.setdefault(declared.name, []).append((name, declared))
    return [
        _option("method", str if default is not None else str | None, text, COMMON, default),
        *(_build_method_option(name, uses) for name, uses in shared.items()),
    ]


def _build_method_option(name: str, uses: list[tuple[str, Parameter]]) -> inspect.Parameter:
    first = uses[0][1]
    option = name.replace("_", "-")
    flags = (f"--{option}/--no-{option}",) if first.type is bool else (first.option,)
    meanings: dict[tuple[str, str], list[tuple[str, Parameter]]] = {}
    for method, declared in uses:  # methods may give a parameter another range
        meanings.setdefault((declared.help, declared.allowed), []).append((method, declared))
    text = " ".join(_describe_parameter(same) for same in meanings.values())
    kind = (bool if first.type is bool else str) | None
    value = None if first.type is bool else name_value(first)
    return _option(name, kind, text, METHOD_OPTIONS, flags=flags, metavar=value)


def _describe_parameter(uses: list[tuple[str, Parameter]]) -> str:
    methods = ", ".join(method for method, _ in uses)
    has_one_default = len({str(declared.default) for _, declared in uses}) == 1
    text = describe_parameter(uses[0][1], with_default=has_one_default)
    return f"{text} For {methods}."


def _build_method(values: dict[str, MethodValue], typed: set[str]) -> Method:
    """Return the requested method; typed options override those of the config file."""
    spec = str(values.pop("method"))
    parameters = {name: value for name, value in values.items() if value is not None}
    if ":" not in spec:
        return METHODS.build(spec, parameters)
    method, is_spec_typed = parse_method(spec), "method" in typed
    # A typed spec overrides the config file, and typed options override a spec of the config file.
    # If both come from the same source, neither can override the other.
    if any((name in typed) == is_spec_typed for name in parameters):
        raise UsageError(
            f'parameters are given twice, in "{spec}" and as options', hint="use one of the two"
        )
    return method if is_spec_typed else method.from_params(method.params() | parameters)


@dataclass(frozen=True)
class MethodArguments:
    """The method options of a command that can also take the method of an earlier release."""

    values: dict[str, MethodValue]
    typed: set[str]

    def make(self) -> Method:
        """Return the method; raise an error if none is named."""
        if self.values["method"] is None:
            hint = "`queryveil advise` recommends one, `queryveil methods` lists all"
            raise UsageError("no method is named: --method is missing", hint=hint)
        return _build_method(dict(self.values), self.typed)

    def typed_options(self) -> list[str]:
        """Return the options of methods that were typed on the command line."""
        return ["--" + name.replace("_", "-") for name in sorted(self.typed & self.values.keys())]

    def make_if_typed(self) -> Method | None:
        """Return the method if it was typed, else None; the config file is ignored."""
        if "method" in self.typed:
            return self.make()
        typed = self.typed_options()
        if typed:
            options = ", ".join(typed)
            raise UsageError(
                f"{options} needs --method, which otherwise is that of the earlier release",
                hint="leave it out, or name --method and all its parameters again",
            )
        return None


@dataclass(frozen=True)
class MapperArguments:
    """The taxonomy and the language tools that map queries to concepts."""

    taxonomy: str
    language: str | None
    tagger: str | None
    terms: Path | None

    @property
    def wanted(self) -> bool:
        """Whether queries are to be mapped to concepts."""
        return self.taxonomy != "none"

    def make(self) -> Mapper:
        """Open the taxonomy and return a mapper."""
        return make_mapper(
            self.taxonomy,
            language=self.language,
            tagger=self.tagger,
            terms=self.terms,
        )


def _mapper_parameters() -> list[inspect.Parameter]:
    text = "wordnet, shop, a .qvt file or a path list; several with commas; none: no concepts."
    return [
        _option("taxonomy", str, text, _MEANING, "wordnet"),
        _option(
            "language",
            str | None,
            "Language of the queries: en, de, ...; several: en,de; auto: guessed.",
            _MEANING,
        ),
        _option("tagger", str | None, f"Part-of-speech tagger: {', '.join(TAGGERS)}.", _MEANING),
        _option(
            "terms", Path | None, "Custom terms: a term, a tab and a concept per line.", _MEANING
        ),
    ]


def _loader_parameters() -> list[inspect.Parameter]:
    """Return the options of all taxonomy loaders; loaders may share one."""
    uses: dict[str, list[tuple[str, LoaderOption]]] = {}
    for loader in TAXONOMY_LOADERS.values():
        for option in loader.options:
            uses.setdefault(option.name, []).append((loader.name, option))
    return [
        _option(
            name,
            (bool if users[0][1].is_flag else str) | None,
            f"{', '.join(loader for loader, _ in users)}: {users[0][1].help}.",
            _LOADER,
        )
        for name, users in uses.items()
    ]


def _screen_parameters() -> list[inspect.Parameter]:
    return [
        _option("as_json", bool, "Print one JSON document.", OUTPUT, False, flags=("--json",)),
        _option("quiet", bool, "Print nothing but errors.", OUTPUT, False, flags=("--quiet", "-q")),
    ]


log_options = OptionGroup("log", _log_parameters, _build_log_arguments)
optional_log_options = OptionGroup("log", lambda: _log_parameters(None), _build_log_arguments)
method_options = OptionGroup("method", _method_parameters, _build_method)
optional_method_options = OptionGroup("method", lambda: _method_parameters(None), MethodArguments)
mapper_options = OptionGroup(
    "mapper", _mapper_parameters, lambda values, _: MapperArguments(**values)
)
loader_options = OptionGroup(
    "options",
    _loader_parameters,
    lambda values, _: {name: value for name, value in values.items() if value is not None},
)
screen_options = OptionGroup("screen", _screen_parameters, lambda values, _: Terminal(**values))
