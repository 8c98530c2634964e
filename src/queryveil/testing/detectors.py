"""The kit for detectors: each answer depends on one text alone, and there is always an answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from ..log.detectors import Detector
from .checks import KitCheck, require, run_checks
from .logs import HOSTILE_ROWS, example_rows

_TURNS = 3


def check_detector(detector: Detector, flagged: Sequence[str], clean: Sequence[str]) -> None:
    """Check a detector; raise KitFailure with every check that it fails.

    Args:
        detector: The detector.
        flagged: Texts that it flags.
        clean: Texts that it does not flag.
    """
    run_checks(f"the detector {detector.name}", detector_checks(detector, flagged, clean))


def detector_checks(
    detector: Detector, flagged: Sequence[str], clean: Sequence[str]
) -> list[KitCheck]:
    """Return the checks of `check_detector`, for `pytest.mark.parametrize`."""
    texts = _make_texts((*flagged, *clean))
    checks: dict[str, Callable[[], None]] = {
        "is described": lambda: _is_described(detector, flagged, clean),
        "flags its samples": lambda: _flags_samples(detector, flagged, clean),
        "answers for every text": lambda: _answers(detector, texts),
        "answers the same again": lambda: _repeats(detector, texts),
        "answers the same in another order": lambda: _ignores_order(detector, texts),
        "answers the same in parts": lambda: _ignores_other_texts(detector, texts),
    }
    return [KitCheck(name, run) for name, run in checks.items()]


def _make_texts(samples: Sequence[str]) -> pl.Series:
    """Return the samples among hostile and ordinary texts, each once."""
    hostile = [row[1] for row in HOSTILE_ROWS]
    ordinary = [row[1] for row in example_rows(20)][:200]
    texts = dict.fromkeys([*samples, *hostile, "", " ", "•••", *ordinary])
    return pl.Series("text", list(texts), pl.String)


def _is_described(detector: Detector, flagged: Sequence[str], clean: Sequence[str]) -> None:
    require(detector.name and detector.title, "a detector needs a name and a title")
    require("," not in detector.name, "a name has no comma: commas separate names in an option")
    require(detector.version, "a detector needs a version: cards name it")
    require(flagged and clean, "pass texts that it flags and texts that it does not flag")


def _flags_samples(detector: Detector, flagged: Sequence[str], clean: Sequence[str]) -> None:
    flags = _ask(detector, pl.Series("text", [*flagged, *clean], pl.String))
    missed = [text for text, flag in zip(flagged, flags[: len(flagged)], strict=True) if not flag]
    wrong = [text for text, flag in zip(clean, flags[len(flagged) :], strict=True) if flag]
    require(not missed, f"it does not flag {missed!r}")
    require(not wrong, f"it flags {wrong!r}")


def _answers(detector: Detector, texts: pl.Series) -> None:
    _ask(detector, texts)
    _ask(detector, texts.clear())


def _repeats(detector: Detector, texts: pl.Series) -> None:
    first = _ask(detector, texts)
    for _ in range(_TURNS):
        _require_same(texts, first, _ask(detector, texts), "in another call: it is random")


def _ignores_order(detector: Detector, texts: pl.Series) -> None:
    backward = _ask(detector, texts.reverse()).reverse()
    _require_same(texts, _ask(detector, texts), backward, "in another order")


def _ignores_other_texts(detector: Detector, texts: pl.Series) -> None:
    together, half = _ask(detector, texts), len(texts) // 2
    halves = pl.concat([_ask(detector, texts[:half]), _ask(detector, texts[half:])])
    _require_same(texts, together, halves, "among other texts")
    alone = pl.concat(_ask(detector, texts[n : n + 1]) for n in range(len(texts)))
    _require_same(texts, together, alone, "alone")


def _ask(detector: Detector, texts: pl.Series) -> pl.Series:
    flags = detector.flag(texts)
    require(
        isinstance(flags, pl.Series) and flags.dtype == pl.Boolean,
        "it must return a polars series of Booleans",
    )
    require(len(flags) == len(texts), f"it has {len(flags)} answers for {len(texts)} texts")
    require(not flags.null_count(), "a null is no answer")
    return flags


def _require_same(texts: pl.Series, first: pl.Series, second: pl.Series, when: str) -> None:
    other = texts.filter(first != second).head(3).to_list()
    require(not other, f"the answer for {other!r} is another one {when}")
