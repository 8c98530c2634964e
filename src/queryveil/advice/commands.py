"""The lines that a proposal prints: commands for a shell, and Python."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path

from ..core.parameters import Parameter
from ..core.records import Scalar
from ..log.frames import is_frame
from ..log.opening import LogLike
from ..log.options import ReadOptions
from ..log.query_log import QueryLog
from ..methods.base import Method
from ..workflows.budget import is_differentially_private

_PLACEHOLDER = "LOG"


@dataclass(frozen=True)
class LogSource:
    """How the log is named in commands and in Python.

    Attributes:
        paths: The files; empty if the log is not named.
        options: Options of a command, as they are typed: `("--format", "csv")`.
        keywords: Arguments of `read_log` as Python source: `("format", "'csv'")`.
        ledger: The name of the population, if it was given.
        is_in_memory: Whether the log comes from no file.
    """

    paths: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()
    ledger: str | None = None
    is_in_memory: bool = False

    @classmethod
    def of(
        cls,
        log: LogLike | None,
        options: ReadOptions,
        ledger: str | None = None,
    ) -> LogSource:
        """Return how to name a log that a Python program has."""
        if log is None:
            return cls(ledger=ledger)
        if isinstance(log, QueryLog):
            paths = tuple(source.path for source in log.sources)
            if not paths:
                return cls(ledger=ledger, is_in_memory=True)
            values = _options_of(log)
        elif is_frame(log) or not isinstance(log, str | Path | Iterable):
            return cls(ledger=ledger, is_in_memory=True)
        else:
            paths = (str(log),) if isinstance(log, str | Path) else tuple(map(str, log))
            values = _changed_options(options)
        options_typed = tuple(_option_words(name, value) for name, value in values.items())
        keywords = tuple((name, _source_of(name, value)) for name, value in values.items())
        return cls(paths, options_typed, keywords, ledger)


def _changed_options(options: ReadOptions) -> dict[str, object]:
    default = ReadOptions()
    values = {declared.name: getattr(options, declared.name) for declared in fields(options)}
    return {
        name: value
        for name, value in values.items()
        if value != getattr(default, name) and name != "may_stop"
    }


def _options_of(log: QueryLog) -> dict[str, object]:
    """Return the options with which a log was read, from its fingerprint."""
    stored = json.loads(log.options_fingerprint or "{}")
    stored["columns"] = dict(stored.get("columns", ()))
    default = ReadOptions()
    known = {declared.name for declared in fields(default)} - {"may_stop", "exclude_users"}
    options = {
        name: value
        for name, value in stored.items()
        if name in known and value != getattr(default, name)
    }
    # The users themselves are not kept, but a line without them would release their rows.
    return options | ({"exclude_users": True} if log.accounting.excluded_users else {})


def _option_words(name: str, value: object) -> tuple[str, ...]:
    """Return an option as it is typed.

    >>> _option_words("columns", {"user": "uid", "query": "q"})
    ('--columns', 'user=uid,query=q')
    >>> _option_words("sample_users", 0.05)
    ('--sample-users', '5%')
    """
    option = "--" + name.replace("_", "-")
    if name == "exclude_users":
        return option, "EXCLUDED"
    if value is True:
        return (option,)
    if isinstance(value, dict):
        return option, ",".join(f"{key}={item}" for key, item in value.items())
    if value == "\t":
        return option, "tab"
    if isinstance(value, float) and value < 1:  # of all users, or of all rows
        return option, f"{value * 100:g}%"
    return option, f"{value:g}" if isinstance(value, float) else str(value)


def _source_of(name: str, value: object) -> str:
    if name == "exclude_users":
        return "excluded"  # never the names of users
    return repr(value.isoformat() if isinstance(value, date) else value)


def write_commands(
    method: Method, source: LogSource, users: int | None, folder: str
) -> tuple[str, ...]:
    """Return the commands that make and verify a release; empty if the log is in no file."""
    if source.is_in_memory:
        return ()
    log = [*(source.paths or (_PLACEHOLDER,)), *(word for pair in source.options for word in pair)]
    chosen = ["--method", method.name]
    for declared, value in _changed_parameters(method):
        chosen += _parameter_words(declared, value)
    private = is_differentially_private(method)
    public_number = ["--expected-users", str(users)] if private and users else []
    ledger = ["--ledger", source.ledger] if source.ledger is not None else []
    lines = [
        ["queryveil", "anonymize", *log, *chosen, *public_number, *ledger, "--out", folder],
        ["queryveil", "verify", folder],
        ["queryveil", "pack", folder],
    ]
    if private:  # it spends nothing and does not open the log
        lines.insert(0, ["queryveil", "plan", *log, *chosen, *public_number])
    return tuple(shlex.join(line) for line in lines)


def write_python(
    method: Method, source: LogSource, users: int | None, folder: str
) -> tuple[str, ...]:
    """Return the lines of Python that make and verify a release."""
    private = is_differentially_private(method)
    parameters = ", ".join(
        f"{declared.name}={value!r}" for declared, value in _changed_parameters(method)
    )
    arguments = ["log", f"qv.{type(method).__name__}({parameters})"]
    ledger = source.ledger or ("population" if source.is_in_memory and private else None)
    if private and users:
        arguments.append(f"expected_users={users}")
    if ledger is not None:
        arguments.append(f"ledger={ledger!r}")
    needs_path = any(value.startswith("Path(") for _, value in source.keywords)
    return (
        *(("from pathlib import Path",) if needs_path else ()),
        "import queryveil as qv",
        *_read_lines(source, private),
        f"release = qv.anonymize({', '.join(arguments)})",
        f"release.write({folder!r})",
        f"assert qv.verify({folder!r})",
    )


def _read_lines(source: LogSource, private: bool) -> tuple[str, ...]:
    if source.is_in_memory:
        return ("# log is the one that you gave to qv.advise",)
    paths = list(source.paths) or [_PLACEHOLDER]
    arguments = [repr(paths[0] if len(paths) == 1 else paths)]
    arguments += [f"{name}={value}" for name, value in source.keywords]
    if private:  # whether there is a release must not depend on rows that cannot be read
        arguments.append("may_stop=False")
    return (f"log = qv.read_log({', '.join(arguments)})",)


def _changed_parameters(method: Method) -> list[tuple[Parameter, Scalar]]:
    """Return the parameters that differ from their defaults, and always those of the guarantee."""
    always = {"k", "epsilon", "delta", "min_users"}
    values = method.params()
    return [
        (declared, values[declared.name])
        for declared in method.user_parameters()
        if values[declared.name] != declared.default
        or (declared.name in always and values[declared.name])
    ]


def _parameter_words(declared: Parameter, value: Scalar) -> list[str]:
    if declared.type is bool:
        return [declared.option if value else f"--no-{declared.option.removeprefix('--')}"]
    return [declared.option, _parameter_value(value)]


def name_method(method: Method) -> str:
    """Return a method with its parameters, for people.

    >>> from queryveil.methods.base import parse_method
    >>> name_method(parse_method("profile-first"))
    'profile-first with epsilon 1'
    """
    words = [
        f"{declared.name.replace('_', ' ')} {_parameter_value(value)}"
        for declared, value in _changed_parameters(method)
    ]
    return f"{method.name} with {', '.join(words)}"


def _parameter_value(value: Scalar) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
