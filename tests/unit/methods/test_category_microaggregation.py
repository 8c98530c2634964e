"""Category and syntactic microaggregation pass the kit for methods."""

from __future__ import annotations

import pytest
from recounts import recount_microaggregation

from queryveil.methods.microaggregation.category import CategoryMicroaggregation
from queryveil.methods.microaggregation.syntactic import SyntacticMicroaggregation
from queryveil.testing import KitCheck, method_checks

SPECS = [
    "category-microaggregation:k=3",
    "syntactic-microaggregation:k=3:max-rows-per-user=4",
]
CHECKS = [
    *method_checks(CategoryMicroaggregation(k=3), recount=recount_microaggregation),
    *method_checks(
        SyntacticMicroaggregation(k=3, max_rows_per_user=4), recount=recount_microaggregation
    ),
]


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
