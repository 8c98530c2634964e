"""The questions that `advise` asks, and the typed answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ..concepts.mapping.language import LANGUAGE_CODES, language_code
from ..concepts.mapping.language_data import is_installed
from ..core.records import Record, json_field
from ..errors import UsageError, did_you_mean

Recipient: TypeAlias = Literal["public", "partner", "team"]
Purpose: TypeAlias = Literal[
    "ranking", "suggestion", "trends", "user-modeling", "linguistics", "benchmark"
]
Never: TypeAlias = Literal[
    "identify-a-user", "reveal-a-rare-query", "link-two-queries", "depend-on-one-user"
]
RECIPIENTS: tuple[Recipient, ...] = get_args(Recipient)
PURPOSES: tuple[Purpose, ...] = get_args(Purpose)
NEVERS: tuple[Never, ...] = get_args(Never)
NONE = "none"  # the answer that nothing must never happen
MAX_USERS = 10_000_000_000
_OTHER_SPELLINGS = {"user-modelling": "user-modeling"}


@dataclass(frozen=True)
class Question:
    """A question with its choices and what they mean; the first choice is the safe one."""

    name: str
    text: str
    choices: Mapping[str, str]


RECIPIENT = Question(
    "recipient",
    "Who will get the data?",
    {
        "public": "anybody; copies cannot be recalled",
        "partner": "a partner who is bound by contract not to identify anybody",
        "team": "people in your own organization who may see personal data",
    },
)
PURPOSE = Question(
    "purpose",
    "What will the data be used for?",
    {
        "trends": "which queries are frequent",
        "ranking": "improving the order of results; needs clicks",
        "suggestion": "suggesting queries; needs which query follows which",
        "user-modeling": "the interests of users; needs data on each user",
        "linguistics": "words and phrasing of queries",
        "benchmark": "a log with which others test their systems",
    },
)
NEVER = Question(
    "never",
    "What must never happen?",
    {
        "identify-a-user": "a released log can be assigned to one person and to nobody else",
        "reveal-a-rare-query": "a query that only a few users sent is released",
        "link-two-queries": "two real queries are shown to come from the same person",
        "depend-on-one-user": "the release depends noticeably on the log of one person",
        NONE: "none of these; a rule about single queries is enough",
    },
)
QUESTIONS = (RECIPIENT, PURPOSE, NEVER)
USERS_QUESTION = "About how many users does the log have? (a public figure, not counted in the log)"
LANGUAGE_QUESTION = "In which language are the queries?"
# What must never happen, if the data owner does not answer: the more recipients, the more.
ASSUMED_NEVER: Mapping[Recipient, tuple[Never, ...]] = {
    "public": NEVERS,
    "partner": ("identify-a-user", "reveal-a-rare-query"),
    "team": ("identify-a-user",),
}
ASSUMED_RECIPIENT: Recipient = "public"
ASSUMED_PURPOSE: Purpose = "trends"  # it needs the least: counts of queries
ASSUMED_LANGUAGE = "english"  # that of the included taxonomy


@dataclass(frozen=True, repr=False, kw_only=True)
class Answers(Record):
    """What the data owner answered, and what was assumed where they did not.

    Attributes:
        users: The approximate number of users, a public figure; None if it is not known.
        never: What must never happen; empty if the data owner said `none`.
        taxonomy: A file with the taxonomy of the queries' language, if there is one.
        assumed: The questions that were not answered.
    """

    shown = ("recipient", "purpose", "language")

    recipient: Recipient
    purpose: Purpose
    users: int | None
    language: str
    never: tuple[Never, ...]
    taxonomy: str | None = json_field(default=None, optional=True)
    assumed: tuple[str, ...] = ()

    @property
    def has_taxonomy(self) -> bool:
        """Whether queries can be mapped to concepts: by WordNet, or by an own taxonomy."""
        return self.taxonomy is not None or is_installed(language_code(self.language))

    @property
    def query_language(self) -> str | None:
        """The code of the language in which WordNet maps queries; None if it is English."""
        code = language_code(self.language)
        return None if code == "en" or self.taxonomy is not None else code

    @classmethod
    def of(
        cls,
        *,
        recipient: str | None = None,
        purpose: str | None = None,
        users: int | None = None,
        language: str | None = None,
        never: str | Iterable[str] | None = None,
        taxonomy: str | None = None,
    ) -> Answers:
        """Return the answers; where there is none, the protected choice.

        >>> Answers.of(recipient="team", users=5_000).assumed
        ('purpose', 'language', 'never')
        """
        values = (recipient, purpose, users, language, never)
        names = ("recipient", "purpose", "users", "language", "never")
        to: Any = parse_choice(RECIPIENT, recipient or ASSUMED_RECIPIENT)
        what: Any = parse_choice(PURPOSE, purpose or ASSUMED_PURPOSE)
        return cls(
            recipient=to,
            purpose=what,
            users=None if users is None else _check_users(users),
            language=_name_language(language or ASSUMED_LANGUAGE),
            never=ASSUMED_NEVER[to] if never is None else parse_never(never),
            taxonomy=taxonomy,
            assumed=tuple(name for name, value in zip(names, values, strict=True) if value is None),
        )


def assumed_never(recipient: str) -> tuple[Never, ...]:
    """Return what must never happen, if the data owner does not answer."""
    return next((never for name, never in ASSUMED_NEVER.items() if name == recipient), NEVERS)


def parse_choice(question: Question, value: str) -> str:
    """Return the choice of a question that a text names; raise UsageError if there is none.

    >>> parse_choice(PURPOSE, "user-modelling")
    'user-modeling'
    """
    text = value.strip().lower()
    text = _OTHER_SPELLINGS.get(text, text)
    if text not in question.choices:
        raise UsageError(
            f'`{question.name}` cannot be "{value}"',
            hint=did_you_mean(text, question.choices),
        )
    return text


def parse_never(value: str | Iterable[str]) -> tuple[Never, ...]:
    """Return what must never happen, in the order of the table.

    >>> parse_never("link-two-queries, identify-a-user")
    ('identify-a-user', 'link-two-queries')
    >>> parse_never("none")
    ()
    """
    texts = [value] if isinstance(value, str) else list(value)
    words = [word for text in texts for word in text.split(",") if word.strip()]
    chosen = {parse_choice(NEVER, word) for word in words}
    if NONE in chosen and len(chosen) > 1:
        raise UsageError(
            "`never` has both none and something", hint="leave out none, or everything else"
        )
    return tuple(name for name in NEVERS if name in chosen)


def _check_users(users: int) -> int:
    if isinstance(users, bool) or not isinstance(users, int) or not 1 <= users <= MAX_USERS:
        raise UsageError(
            f'`users` cannot be "{users}"',
            hint=f"it must be a whole number from 1 to {MAX_USERS:,}: about how many users the "
            "log has",
        )
    return users


def _name_language(text: str) -> str:
    """Return the English name of a language, in lower case, from its name or code."""
    key = text.strip().lower()
    return LANGUAGE_CODES.get(key, key)
