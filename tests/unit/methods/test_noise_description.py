"""What the cards say of noise in rows is what a run does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import queryveil as qv
from queryveil.core.progress import NoProgress
from queryveil.core.randomness import RandomSource
from queryveil.log.query_log import QueryLog
from queryveil.methods.replacement.concept_histogram import ConceptHistogram
from queryveil.methods.replacement.noise_description import own_share
from queryveil.methods.replacement.profile_first import ProfileFirst
from queryveil.methods.replacement.semantic import SemanticReplacement
from queryveil.methods.runner import run_method

USERS, PHRASES = 400, 10  # the same query twice in a row would be one event
LOG = QueryLog.from_rows(
    [(f"u{n}", ("tennis", "lawn tennis")[t % 2], f"2006-03-01 10:0{t}:00", None, None)
     for n in range(USERS) for t in range(PHRASES)]
)  # fmt: skip
SPORT = {"domain": "sport", "max_phrases_per_user": PHRASES}


def own_rows(release: qv.Release, text: str = "tennis") -> np.ndarray:
    """Give the share of each user's rows that carry the concept that all of them asked about."""
    taxonomy = qv.open_taxonomy("wordnet-nouns")
    mine = pl.col("concept").is_in(taxonomy.lookup(text))
    assert release.concepts is not None
    shares = release.concepts.group_by("user").agg(mine.mean().alias("share"))
    return shares["share"].to_numpy()


@pytest.mark.parametrize("epsilon", [1, 30, 60, 200])
def test_a_histogram_keeps_about_the_share_that_is_told(epsilon: float) -> None:
    method = ConceptHistogram(epsilon=epsilon, **SPORT)
    cells = len(method.domains().concepts)
    best = own_share(method.counts(cells), cells, PHRASES)
    found = own_rows(run_method(method, LOG, RandomSource(2), NoProgress()))
    expected = best.shown * best.rows
    assert abs(float(found.mean()) - expected) < 0.02 + 0.15 * expected


@pytest.mark.parametrize("epsilon", [1, 60])
def test_a_replaced_phrase_stays_as_often_as_is_told(epsilon: float) -> None:
    method = SemanticReplacement(epsilon=epsilon, criterion="nsqc", **SPORT)
    stays = method.mechanism(method.domains(), NoProgress()).chance(1.0)
    release = run_method(method, LOG, RandomSource(2), NoProgress())
    spread = (stays * (1 - stays) / (USERS * PHRASES)) ** 0.5
    assert abs(float(own_rows(release).mean()) - stays) < 4 * spread + 1e-3
    assert release.noise_statements == method.noise_statements()
    assert f"{100 * stays:.3g}% of cases" in release.noise_statements[0]


@pytest.mark.parametrize(
    ("mechanism", "says"),
    [
        ("population", "All users have one profile"),
        ("answers", "is their own in"),
        ("cells", "as many users as its noisy count"),
        ("uniform", "No profile is released"),
    ],
)
def test_every_way_to_tell_profiles_has_its_words(mechanism: str, says: str) -> None:
    method = ProfileFirst(mechanism=mechanism, domain="disease,sport", max_phrases_per_user=3)
    release = run_method(method, LOG, RandomSource(1), NoProgress())
    assert says in release.noise_statements[0]
    assert "never a phrase" in release.noise_statements[1]


def test_the_page_and_the_card_say_it(tmp_path: Path) -> None:
    qv.anonymize(LOG, ConceptHistogram(epsilon=60, **SPORT), seed=1).write(tmp_path / "out")
    public = tmp_path / "out" / "public"
    card = json.loads((public / "release.json").read_text("utf-8"))
    assert card["noise"]["tables"] == []
    assert len(card["noise"]["statements"]) == 2
    assert "of their rows have it" in (public / "report.html").read_text("utf-8")
    assert "of their rows have it" in (public / "croissant.json").read_text("utf-8")
    assert not list(public.glob("*.about.txt"))
    assert qv.verify(tmp_path / "out").holds
