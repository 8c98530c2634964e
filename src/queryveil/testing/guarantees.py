"""Check that a guarantee is complete: its numbers, its limits and its checks."""

from __future__ import annotations

from typing import get_args

from ..release.guarantee import Guarantee, Model
from .checks import require


def check_guarantee(guarantee: Guarantee) -> None:
    """Raise KitFailure if a guarantee lacks what a reader or `verify` needs."""
    models = get_args(Model)
    require(guarantee.model in models, f"the model must be one of {', '.join(models)}")
    require(guarantee.statement.strip(), "`statement` is empty: say what is guaranteed")
    require(guarantee.assumptions, "`assumptions` is empty: nothing holds without any")
    require(guarantee.not_covered, "`not_covered` is empty: say what is not guaranteed")
    require(guarantee.checks, "`checks` is empty: then `verify` cannot test anything")
    if guarantee.model == "k-anonymity":
        require(guarantee.k is not None and guarantee.k >= 2, "k-anonymity needs k, from 2")
    if guarantee.model.endswith("-dp"):
        require(guarantee.epsilon is not None, "differential privacy needs epsilon")
        require(guarantee.neighbours, "differential privacy needs the neighboring logs in words")
        require(guarantee.relation, "differential privacy needs the neighboring relation")
    if guarantee.model == "conditional-dp":
        require(guarantee.given, "conditional differential privacy needs what is `given`")
