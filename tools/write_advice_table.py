"""Write the tables of rules and parameters into docs/how-to/advise.md: tools/write_advice_table.py.

A table stands between `<!-- advice NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from queryveil.advice.answers import ASSUMED_NEVER, PURPOSES, QUESTIONS, RECIPIENTS
from queryveil.advice.rules import RULES, STRENGTHS, Rule

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "advise.md"
BLOCK = re.compile(r"<!-- advice ([a-z]+) -->\n.*?<!-- end -->\n", re.DOTALL)


def fill_tables(text: str) -> str:
    """Return the page with the tables that follow from the rules."""
    tables = {"questions": _questions, "rules": _rules, "parameters": _parameters}
    return BLOCK.sub(lambda block: f"{block[0].splitlines()[0]}\n{tables[block[1]]()}", text)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "<!-- end -->\n"


def _questions() -> str:
    rows = [
        (f"`--{question.name}`", f"`{name}`", text)
        for question in QUESTIONS
        for name, text in question.choices.items()
    ]
    return _table(("question", "answer", "meaning"), rows)


def _rules() -> str:
    return _table(
        ("rule", "method", "recipients", "purposes", "users needed", "taxonomy needed"),
        [_rule(rule) for rule in RULES],
    )


def _rule(rule: Rule) -> Sequence[str]:
    method, *parameters = rule.method.split(":")
    spec = " ".join(f"`{word}`" for word in (method, *parameters))
    recipients = "all" if rule.recipients == RECIPIENTS else ", ".join(rule.recipients)
    purposes = "all" if set(rule.purposes) == set(PURPOSES) else ", ".join(rule.purposes)
    needed = (
        "by forecast"
        if rule.chosen == "epsilon"
        else f"{rule.users_per_threshold:,} times {rule.chosen}"
    )
    return (
        f"`{rule.name}`",
        spec,
        recipients,
        purposes,
        needed,
        "yes" if rule.needs_taxonomy else "no",
    )


def _parameters() -> str:
    rows = [
        (
            recipient,
            str(strength.k),
            str(strength.min_users),
            ", ".join(f"{epsilon:g}" for epsilon in strength.epsilons),
            ", ".join(f"`{never}`" for never in ASSUMED_NEVER[recipient]),
        )
        for recipient, strength in STRENGTHS.items()
    ]
    head = ("recipient", "k", "min-users", "epsilon: the first that is enough", "assumed `--never`")
    return _table(head, rows)


def main() -> None:
    """Write all tables."""
    PAGE.write_text(fill_tables(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
