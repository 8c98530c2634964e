"""Groups whose shared log is mostly of one sensitive topic: by hand, against a plain count."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_logs import Logs, log_of, release_of

from queryveil.lexicons import flag_topics
from queryveil.measures.context import MeasureContext
from queryveil.measures.sensitive_homogeneity import SensitiveHomogeneity, count_sensitive_groups
from queryveil.testing import KitCheck, MeasureCase, measure_checks

TEXTS = ["weather", "herpes", "gay church", "county jail", "golf"]
LOGS = st.dictionaries(
    st.sampled_from("123456"), st.lists(st.sampled_from(TEXTS), min_size=1, max_size=5),
    min_size=1, max_size=6,
)  # fmt: skip
TOPICS_OF = {
    "herpes": {"health"},
    "gay church": {"sexuality", "religion"},
    "county jail": {"crime"},
}


def is_homogeneous(log: list[str], share: float) -> bool:
    counts = Counter(topic for text in log for topic in TOPICS_OF.get(text, ()))
    return any(count > share * len(log) for count in counts.values())


def test_the_topics_are_those_of_the_lists() -> None:
    log = log_of({"1": TEXTS}).local_frame.collect()["query"].cast(str)
    flags = flag_topics(log)
    for number, text in enumerate(log):
        found = {name for name in flags.columns if flags[name][number]}
        assert found == TOPICS_OF.get(text, set())


@given(LOGS, st.sampled_from([0.0, 0.3, 0.5, 0.8]))
def test_it_is_the_plain_count(people: Logs, share: float) -> None:
    groups = Counter(tuple(sorted(log)) for log in people.values())
    such = {log: n for log, n in groups.items() if is_homogeneous(list(log), share)}
    found = count_sensitive_groups(log_of(people).local_frame, share)
    assert (found.users, found.groups) == (len(people), len(groups))
    assert (found.users_in_such_groups, found.groups_of_one_topic) == (
        sum(such.values()),
        len(such),
    )
    assert sum(found.by_topic.values()) == len(such)


def test_values_worked_by_hand() -> None:
    ill, well = ["herpes", "herpes", "golf"], ["golf", "weather", "herpes"]
    before = {"1": ill, "2": ill, "3": well, "4": well}
    log = log_of(before)
    release = release_of(log, {"1": ill, "2": ill, "3": well})
    found = SensitiveHomogeneity().compute(MeasureContext(log), release)
    assert found.value == pytest.approx(2 / 3, abs=1e-6)
    assert found.counts == {
        "users": 3, "users_in_such_groups": 2, "groups": 2, "groups_of_one_topic": 1,
    }  # fmt: skip
    assert found.summary == (
        "2 of 3 released users are in 1 of 2 groups whose shared log has more than 50% of its rows "
        "in one sensitive topic (health 1); in the original log 2 of 4 users have such a log"
    )
    strict = SensitiveHomogeneity(threshold=0.7).compute(MeasureContext(log), release)
    assert strict.value == 0


ORIGINAL = {"1": ["herpes"], "2": ["golf"]}
CASES = [
    MeasureCase("half", ORIGINAL, {"1": ["herpes"], "2": ["golf"]}, 0.5, {"users": 2}),
    MeasureCase("none", ORIGINAL, {"1": ["golf"]}, 0.0, {"users": 1}),
    MeasureCase("exactly half of the rows", ORIGINAL, {"1": ["golf", "herpes"]}, 0.0),
]


@pytest.mark.parametrize("check", measure_checks(SensitiveHomogeneity(), CASES), ids=str)
def test_the_kit(check: KitCheck) -> None:
    check()
