"""The release as an entry for the registry of deployments of differential privacy.

The form is that of OpenDP's Differential Privacy Deployments Registry. It is made from the
public card alone. How many users there are is never told. What the registry requires and only
the publisher knows is marked to be filled in, so that its checks refuse an unfinished entry.
"""

from __future__ import annotations

from typing import Any

from .noise import about_noise
from .responsible import describe_release, format_parameters, releases_log

__all__ = ["deployment"]

_TO_FILL_IN = "to be filled in by the publisher"
# A promise under a condition is none of the variants that the registry names.
_VARIANTS = {
    "pure-dp": "Pure DP",
    "approx-dp": "Approximate DP",
    "conditional-dp": "Custom",
}


def deployment(card: dict[str, Any]) -> dict[str, Any] | None:
    """Give the entry, or nothing where the promise is not differential privacy."""
    promise = card["guarantee"]
    if promise["model"] not in _VARIANTS:
        return None
    return {
        "url_slug": _TO_FILL_IN.replace(" ", "-"),
        "deployment": {
            "basic": _basic(card),
            "dp_variant": _variant(promise),
            "privacy_loss": _loss(promise),
            "deployment_model": _model(promise),
            "implementation": _implementation(card),
            "administrative": {
                "status": "Draft",
                "registry_authors": [_TO_FILL_IN],
                "tier": 1,
            },
        },
    }


def _basic(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": f"Web searches, released with {card['method']}",
        "data_curators": [{"data_curator_name": _TO_FILL_IN, "data_curator_type": _TO_FILL_IN}],
        "description": describe_release(card),
        "intended_use": _TO_FILL_IN,
        "data_product_type": "Dataset" if releases_log(card) else "Summary statistics",
        "data_product_region": _TO_FILL_IN,
        "publication_date": _TO_FILL_IN,
    }


def _variant(promise: dict[str, Any]) -> dict[str, Any]:
    given = [f"Taken as public already: {promise['given']}"] if promise["given"] else []
    return {
        "variant_name": _VARIANTS[promise["model"]],
        "data_domain": "Logs of web searches: rows of user, query and time, with rank and URL of "
        "the result where one was clicked.",
        "unprotected_quantities": _list([*given, *promise["not_covered"]]),
    }


def _loss(promise: dict[str, Any]) -> dict[str, Any]:
    numbers = {name: promise[name] for name in ("epsilon", "delta") if promise[name] is not None}
    single = promise["per_query_epsilon"]
    details = f" Epsilon of one query: {single}." if single is not None else ""
    return {
        "privacy_unit": f"{promise['unit']}-level: a {promise['unit']}'s whole log",
        "privacy_unit_details": f"Adjacent are {promise['neighbours']}.",
        "privacy_parameters": numbers,
        "privacy_parameters_details": promise["says"] + details,
    }


def _model(promise: dict[str, Any]) -> dict[str, Any]:
    return {
        "model_name": "Central",
        "model_name_details": "Who made the release had the whole log and keeps it private.",
        "trust_assumptions": _list(promise["assumptions"]),
        "release_type_details": "The parameters are those of this release. Other releases about "
        "the same people add to them, but for those that it says it includes.",
        "access_type": "Non-interactive",
        "access_type_details": "The release is files; nobody can ask the log.",
    }


def _implementation(card: dict[str, Any]) -> dict[str, Any]:
    return {
        "preprocessing_and_hyperparameter_tuning": _list(
            [f"Parameters: {format_parameters(card)}", *card["warnings"], *card["notes"]]
        ),
        "mechanisms": f"Method {card['method']} of queryveil {card['queryveil']}. Its "
        "documentation has the mechanism and the proof." + _noise(card),
        "composition": "The parameters are for all files of the release together.",
    }


def _noise(card: dict[str, Any]) -> str:
    """Tell how large the noise is, table by table."""
    told = [text for says in about_noise(card).values() for text in says[:1]]
    names = [name or "rows" for name in about_noise(card)]
    lines = [f"{name}: {text}" for name, text in zip(names, told, strict=True)]
    return "\n" + _list(lines) if lines else ""


def _list(texts: list[str]) -> str:
    """Write a list in Markdown, which is how the registry shows texts."""
    return "\n".join(f"- {text}" for text in texts)
