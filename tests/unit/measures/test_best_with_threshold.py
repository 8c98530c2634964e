"""What a threshold of users allows at best: by hand, and no release of such texts is better."""

from __future__ import annotations

from pathlib import Path

import pytest
from fold_logs import Row, at
from hypothesis import given
from hypothesis import strategies as st
from small_logs import log_of, release_of

from queryveil.concepts.mapping.options import SAME, MappingOptions
from queryveil.core.randomness import RandomSource
from queryveil.log.query_log import QueryLog
from queryveil.log.reading import read_log
from queryveil.measures._shared.thresholds import BEST_WITH_THRESHOLD, Threshold
from queryveil.measures.base import Measure
from queryveil.measures.context import MeasureContext
from queryveil.measures.query_coverage import QueryCoverage
from queryveil.measures.query_frequency_error import QueryFrequencyError
from queryveil.measures.retrieval_effectiveness import RetrievalEffectiveness
from queryveil.measures.word_frequency_error import WordFrequencyError
from queryveil.methods.base import parse_method
from queryveil.synthetic.output import write_synthetic_log
from queryveil.workflows.measurement import compute_measure, make_rerun, run_for_measurement

BEFORE = {
    "a": ["tennis", "tennis", "jazz music"],
    "b": ["tennis", "asthma"],
    "c": ["music"],
}


@pytest.mark.parametrize(
    ("measure", "values"),
    [
        (QueryCoverage(), {1: 1, 2: 0.25, 3: 0}),
        (QueryCoverage(weighting="volume"), {1: 1, 2: 0.5, 3: 0}),
        (QueryFrequencyError(), {1: 0, 2: 0.75, 3: 1}),
        (QueryFrequencyError(top_n=1), {1: 0, 2: 0, 3: 1}),
        # Two users sent music, though no two sent the same query with it.
        (WordFrequencyError(), {1: 0, 2: 0.5, 3: 1}),
    ],
    ids=str,
)
def test_values_by_hand(measure: Measure, values: dict[int, float]) -> None:
    context = MeasureContext(log_of(BEFORE))
    assert {m: measure.best_with(context, Threshold(m)) for m in values} == values


def test_phrases_have_the_users_of_all_their_queries() -> None:
    context = MeasureContext(log_of(BEFORE))
    phrases = Threshold(2, MappingOptions("wordnet", SAME, ""))
    assert phrases.allowed_texts(context).to_list() == ["tennis"]
    more = MeasureContext(log_of({**BEFORE, "d": ["music shop"], "e": ["music"]}))
    assert "music" in Threshold(2).allowed_texts(more)
    assert QueryCoverage().best_with(context, phrases) == 0.25
    assert RetrievalEffectiveness().best_with(context, phrases) is None


def test_only_a_number_of_users_is_a_threshold() -> None:
    log = log_of(BEFORE)
    for parameters, expected in (
        ({"min_users": 7}, Threshold(7)),
        ({"min_users": 0}, None),
        ({"min_users": "7"}, None),
        ({"k": 5}, None),
    ):
        assert Threshold.of(release_of(log, {}, parameters=parameters)) == expected
    stated = release_of(log, {}, parameters={"min_users": 7, "output_unit": "phrase"})
    assert Threshold.of(stated).phrases is not None


sent = st.lists(st.sampled_from(["ants", "ants bees", "bees", "cats", "cats ants"]), min_size=1)
logs = st.dictionaries(st.sampled_from("12345"), sent, min_size=1)


@given(logs, st.data())
def test_no_release_of_allowed_texts_is_better(before: dict, data: st.DataObject) -> None:
    log, threshold = log_of(before), Threshold(2)
    context = MeasureContext(log)
    allowed = threshold.allowed_texts(context).to_list()
    texts = st.lists(st.sampled_from(allowed)) if allowed else st.just([])
    release = release_of(log, {user: data.draw(texts) for user in before})
    for measure in (QueryCoverage(), QueryCoverage(weighting="volume"), QueryFrequencyError(),
                    QueryFrequencyError(rescale="volume"), WordFrequencyError()):  # fmt: skip
        value, best = measure.compute(context, release).value, measure.best_with(context, threshold)
        assert value <= best + 1e-6 if measure.better == "higher" else value >= best - 1e-6


def test_the_rows_of_frequent_queries_reach_it(tmp_path: Path) -> None:
    write_synthetic_log(tmp_path / "log.tsv", users=60, seed=2)
    log = read_log(tmp_path / "log.tsv")
    method = parse_method("frequent-queries:min-users=3:min-click-users=1:time-precision=hour")
    release, context = run_for_measurement(method, log, RandomSource(1)), MeasureContext(log)
    rerun = make_rerun(method, 1)
    for measure in (QueryCoverage(), QueryFrequencyError()):
        result = compute_measure(measure, context, release, rerun)
        assert result.baselines[BEST_WITH_THRESHOLD] == pytest.approx(result.value, abs=0.02)
    clicks = compute_measure(RetrievalEffectiveness(), context, release, rerun)
    best = clicks.baselines[BEST_WITH_THRESHOLD]
    assert clicks.value == pytest.approx(best, abs=0.03)
    assert best <= clicks.baselines["original"]


def test_a_threshold_of_one_user_leaves_the_ranking_as_it_is() -> None:
    rows: list[Row] = [
        (user, "q", at(0), 1, url) for user, url in (("a", "x.de"), ("b", "x.de"), ("c", "y.de"))
    ]
    measure, context = RetrievalEffectiveness(folds=3), MeasureContext(QueryLog.from_rows(rows))
    assert measure.best_with(context, Threshold(1)) == pytest.approx(2 / 3, abs=1e-5)
    assert measure.best_with(context, Threshold(3)) == 0  # two training users are too few
    assert RetrievalEffectiveness(scope="released").best_with(context, Threshold(1)) is None
