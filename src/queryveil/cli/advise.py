"""`queryveil advise`: which method, k or epsilon fits a log, its recipients and their purpose."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ..advice.advising import give_advice
from ..advice.answers import (
    ASSUMED_LANGUAGE,
    LANGUAGE_QUESTION,
    MAX_USERS,
    NEVER,
    NEVERS,
    PURPOSE,
    PURPOSES,
    RECIPIENT,
    RECIPIENTS,
    USERS_QUESTION,
    Answers,
    Question,
    assumed_never,
    parse_choice,
    parse_never,
)
from ..advice.commands import LogSource
from ..errors import UsageError
from .help import Application
from .messages import name_options
from .options import (
    LogArguments,
    OptionGroup,
    optional_log_options,
    screen_options,
    with_options,
)
from .terminal import Terminal, sanitize

app = Application()
_QUESTIONS = "The questions"


@dataclass(frozen=True)
class NamedLog:
    """The log of a command, and the options with which it was named."""

    arguments: LogArguments
    options: tuple[tuple[str, ...], ...]
    exclude_users: Path | None

    def source(self, ledger: str | None) -> LogSource:
        """Return how to name the log in commands and in Python."""
        source = LogSource.of(self.arguments.paths or None, self.arguments.options, ledger)
        keywords = tuple((name, self._source_of(name, value)) for name, value in source.keywords)
        return replace(source, options=self.options, keywords=keywords)

    def _source_of(self, name: str, value: str) -> str:
        if name == "exclude_users" and self.exclude_users is not None:
            return f"Path({str(self.exclude_users)!r}).read_text('utf-8').splitlines()"
        return value


@dataclass(frozen=True)
class Asked:
    """The answers of the options and of the terminal; None where there is none."""

    recipient: str | None
    purpose: str | None
    users: int | None
    language: str | None
    never: str | list[str] | None


def _build_named_log(values: dict[str, object], typed: set[str]) -> NamedLog:
    """Return the log, and those of its options that are not defaults, as they are typed."""
    options = []
    for declared in optional_log_options.options():
        value = values[declared.name]
        if declared.name != "log" and value != declared.default:
            option = "--" + declared.name.replace("_", "-")
            options.append((option,) if value is True else (option, str(value)))
    arguments = optional_log_options.make(values, typed)
    excluded = values["exclude_users"]
    return NamedLog(arguments, tuple(options), excluded if isinstance(excluded, Path) else None)


_named_log = OptionGroup("log", optional_log_options.options, _build_named_log)


def _question_option(text: str, choices: tuple[str, ...]) -> Any:
    return typer.Option(help=f"{text} {', '.join(choices)}.", rich_help_panel=_QUESTIONS)


@app.command(example="queryveil advise log.tsv --recipient public --purpose trends")
@with_options(_named_log, screen_options)
def advise(
    log: NamedLog,
    screen: Terminal,
    recipient: Annotated[str | None, _question_option("Who gets the data:", RECIPIENTS)] = None,
    purpose: Annotated[str | None, _question_option("What for:", PURPOSES)] = None,
    users: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Users of the log, approximately: a public figure.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language of the queries: english, german, ...", rich_help_panel=_QUESTIONS
        ),
    ] = None,
    never: Annotated[
        list[str] | None, _question_option("What must never happen:", (*NEVERS, "none"))
    ] = None,
    taxonomy: Annotated[
        str | None,
        typer.Option(
            help="Taxonomy in that language, as `queryveil taxonomy import` writes it.",
            rich_help_panel=_QUESTIONS,
        ),
    ] = None,
    look: Annotated[
        bool | None,
        typer.Option(
            "--look/--no-look",
            help="Measure the proposals on a sample of the log; the ledger and later cards "
            "record this.",
        ),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            "--ledger", help="Ledger: name of the population, or a folder; else the log's folder."
        ),
    ] = None,
) -> None:
    """Recommend methods and parameters, or advise against a release; spends nothing."""
    asked = Asked(recipient, purpose, users, language, never or None)
    if screen.answers:
        asked = _ask_missing(screen, asked)
        look = _ask_look(screen) if look is None and log.arguments.paths else look
    answers = Answers.of(**vars(asked), taxonomy=taxonomy)
    if look:
        log.arguments.check_named()
    advice = give_advice(
        answers,
        log.source(ledger),
        (lambda: log.arguments.read(screen)) if look else None,
        ledger=ledger,
        progress=screen,
    )
    text = sanitize_lines(name_options(str(advice)))
    screen.result(advice, lambda console: _print(console, text))


def sanitize_lines(text: str) -> str:
    """Return a text of several lines without control characters and with markup escaped."""
    return "\n".join(sanitize(line) for line in text.split("\n"))


def _print(console: Console, text: str) -> None:
    first, _, rest = text.partition("\n")
    console.print(f"[bold]{first}[/]", soft_wrap=True)
    console.print(rest, soft_wrap=True)


def _ask_missing(screen: Terminal, asked: Asked) -> Asked:
    """Ask the questions that no option answers, one by one; the default is the safe answer."""
    recipient = parse_choice(RECIPIENT, asked.recipient or _ask(screen, RECIPIENT))
    return Asked(
        recipient=recipient,
        purpose=asked.purpose or _ask(screen, PURPOSE),
        users=asked.users or typer.prompt(USERS_QUESTION, value_proc=_parse_number, err=True),
        language=asked.language
        or typer.prompt(LANGUAGE_QUESTION, default=ASSUMED_LANGUAGE, err=True),
        never=asked.never or _ask(screen, NEVER, ",".join(assumed_never(recipient))),
    )


def _ask(screen: Terminal, question: Question, default: str | None = None) -> str:
    """Ask a question until the answer is one of its choices, by its name or its number."""
    screen.err.print(f"\n[bold]{question.text}[/]")
    for number, (name, text) in enumerate(question.choices.items(), 1):
        screen.err.print(f"  {number}. {name}: {text}", soft_wrap=True, highlight=False)
    if question is NEVER:
        screen.err.print("  Several are possible, with commas.")
    while True:
        typed = typer.prompt(
            question.name, default=default or next(iter(question.choices)), err=True
        )
        answer = _replace_numbers(question, typed)
        try:
            if question is NEVER:
                parse_never(answer)
            else:
                parse_choice(question, answer)
        except UsageError as error:
            screen.err.print(sanitize(name_options(str(error))), soft_wrap=True)
            continue
        return answer


def _replace_numbers(question: Question, answer: str) -> str:
    """Return an answer with the names of choices in place of their numbers in the list."""
    names = {str(number): name for number, name in enumerate(question.choices, 1)}
    return ",".join(names.get(part.strip(), part) for part in answer.split(","))


def _parse_number(text: str) -> int:
    """Return a number of users as people write it: `2000`, `2.000`, `2,000`, `about 2 000`."""
    digits = re.fullmatch(
        r"(?:about|ca\.?|circa|~)?\s*(\d+|\d{1,3}(?:[.,' ]\d{3})+)", text.strip().lower()
    )
    number = int(re.sub(r"\D", "", digits[1])) if digits else 0
    if not 1 <= number <= MAX_USERS:
        raise typer.BadParameter("a whole number is needed, such as 2000; a rough one is enough")
    return number


def _ask_look(screen: Terminal) -> bool:
    screen.err.print(
        "\n[bold]May the program read the log, to measure the proposals on a sample?[/]\n"
        "The ledger records it, and the cards of later private releases state it.",
        soft_wrap=True,
    )
    return typer.confirm("Read the log?", default=False, err=True)
