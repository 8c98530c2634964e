"""The disclosure risks of a log as bars: how many of its users each concerns."""

from __future__ import annotations

from ..render.charts.bars import Bar, bar_chart
from ..render.charts.picture import Chart
from .log_profile import LogProfile


def profile_chart(profile: LogProfile) -> Chart:
    """Return a chart of how many users have a unique, rare or sensitive query, or an identifier."""
    users, risks = profile.size.users, profile.risks
    rare = round(risks.users_with_rare_query_fraction * users)
    counts = {
        "a query nobody else sent": risks.users_with_unique_query,
        "a query of fewer than 5 users": rare,
        **{count.title: count.users for count in risks.identifiers.values() if count.users},
        **{f"about {name}": of.users for name, of in profile.sensitive.items() if of.users},
    }
    bars = [
        Bar(label, float(count), f"{count:,} of {users:,}", maximum=float(users or 1), tint="tint1")
        for label, count in counts.items()
    ]
    title = "How many users sent"
    panel = bar_chart(bars, title=title, x_title=f"users, of {users:,}")
    return Chart(title, () if panel is None else (panel,))
