"""Print the profile of a log as tables."""

from __future__ import annotations

from rich.console import Console

from ..workflows.log_profile import LogProfile, RiskSummary, TopicSummary
from .messages import name_options
from .tables import draw_bar, make_grid
from .terminal import sanitize

_MAX_TOPICS = 8


def print_profile(console: Console, profile: LogProfile) -> None:
    """Print the size, topics and disclosure risks of a log."""
    _print_size(console, profile)
    if profile.topics is not None:
        _print_topics(console, profile.topics)
    _print_risks(console, profile.risks)
    _print_sensitive(console, profile)
    for note in profile.notes:
        console.print(f"[yellow]Note:[/] {sanitize(name_options(note))}", soft_wrap=True)


def _print_size(console: Console, profile: LogProfile) -> None:
    table, size, accounting = make_grid("What is in this log"), profile.size, profile.accounting
    table.add_row("rows read", f"{accounting.rows:,}", ", ".join(profile.formats))
    mappings = [
        ", ".join(f"{ours}={theirs}" for ours, theirs in columns.items())
        for columns in profile.columns.values()
        if columns
    ]
    for pairs in dict.fromkeys(mappings):  # files may have the same
        table.add_row("columns used", "", sanitize(pairs))
    for change in ("dropped", "rejected", "normalized"):
        for reason, number in getattr(accounting, change).items():
            table.add_row(f"  {change}", f"{number:,}", sanitize(reason))
    table.add_row("rows kept", f"{size.kept_rows:,}", "")
    table.add_row("events", f"{size.events:,}", "submissions of a query")
    table.add_row("clicks", f"{size.clicks:,}", f"on {size.urls:,} URLs")
    spread = size.rows_per_user
    table.add_row(
        "users", f"{size.users:,}",
        f"rows each: median {spread.median:g}, mean {spread.mean:g}, maximum {spread.max:,g}",
    )  # fmt: skip
    table.add_row(
        "distinct queries", f"{size.queries:,}",
        f"{size.distinct_fraction:.0%} of the rows; "
        f"{size.several_words_fraction:.0%} of them have several words",
    )  # fmt: skip
    if profile.language is not None:
        known = profile.language.known.get(profile.language.code)
        listed = "" if known is None else f"; {known:.0%} of its words are in the dictionary"
        table.add_row("language", profile.language.code, f"{profile.language.name}{listed}")
    if size.first and size.last:
        table.add_row("time", size.first[:10], f"to {size.last[:10]}")
    console.print(table)
    console.print()


def _print_topics(console: Console, topics: TopicSummary) -> None:
    words = ", English words" if topics.taxonomy == "wordnet" else ""
    table = make_grid(f"What it is about (by {sanitize(topics.taxonomy)}{words})")
    for fraction, of in (
        (topics.queries_with_concept_fraction, "of the distinct queries"),
        (topics.rows_with_concept_fraction, "of the rows"),
    ):
        table.add_row("with a concept", f"{fraction:.1%}", f"{draw_bar(fraction)} {of}")
    for name, fraction in list(topics.fractions.items())[:_MAX_TOPICS]:
        text = f"{draw_bar(fraction)} of the phrases with a concept"
        table.add_row(f"  {sanitize(name)}", f"{fraction:.1%}", text)
    rest = list(topics.fractions.values())[_MAX_TOPICS:]
    if rest:
        table.add_row(f"  {len(rest)} more topics", f"{sum(rest):.1%}", "")
    concepts = ", ".join(sanitize(concept.label) for concept in topics.frequent_concepts)
    table.add_row("frequent concepts", "", concepts)
    unmapped = "  ".join(sanitize(query[:40]) for query in topics.frequent_queries_without_concept)
    table.add_row("frequent without a concept", "", unmapped or "none")
    console.print(table)
    console.print()


def _print_risks(console: Console, risks: RiskSummary) -> None:
    table = make_grid("Disclosure risks")
    for title, fraction, of in (
        ("queries of a single user", risks.unique_queries_fraction, "of the queries"),
        ("rows with such a query", risks.rows_with_unique_query_fraction, "of the rows"),
        ("users with a query that only they sent",
         risks.users_with_unique_query_fraction, "of the users"),
        ("users with a query of fewer than 5 users",
         risks.users_with_rare_query_fraction, "of the users"),
    ):  # fmt: skip
        table.add_row(title, f"{fraction:.1%}", f"{draw_bar(fraction)} {of}")
    console.print(table)
    console.print()
    table = make_grid("Possible personal identifiers (by rules, which miss rare names)")
    for kind in risks.identifiers.values():
        examples = "  ".join(sanitize(example[:40]) for example in kind.examples[:2])
        table.add_row(kind.title, f"{kind.queries:,}", f"of {kind.users:,} users  {examples}")
    console.print(table)


def _print_sensitive(console: Console, profile: LogProfile) -> None:
    """Print how many users sent queries of sensitive topics; no query is shown."""
    console.print()
    table = make_grid("Sensitive topics (by lists of words, which miss about four of ten)")
    for topic, count in profile.sensitive.items():
        text = f"rows of {count.users:,} users, {count.queries:,} distinct queries"
        table.add_row(topic, f"{count.rows:,}", text)
    console.print(table)
    console.print(profile.sensitive_summary, soft_wrap=True)
