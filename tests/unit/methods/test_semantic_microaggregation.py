"""Semantic and string microaggregation pass the kit for methods."""

from __future__ import annotations

import pytest
from recounts import recount_microaggregation

from queryveil.methods.microaggregation.semantic import (
    SemanticMicroaggregation,
    StringMicroaggregation,
)
from queryveil.testing import KitCheck, method_checks

SPECS = [
    "semantic-microaggregation:k=3",
    "semantic-microaggregation:k=3:min-users=2:as-published=yes",
    "string-microaggregation:k=3",
]
CHECKS = [
    *method_checks(SemanticMicroaggregation(k=3), recount=recount_microaggregation),
    *method_checks(StringMicroaggregation(k=3), recount=recount_microaggregation),
]


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
