"""Profile-first replacement passes the kit for methods."""

from __future__ import annotations

import pytest
from recounts import recount_checks

from queryveil.methods.replacement.profile_first import ProfileFirst
from queryveil.testing import KitCheck, method_checks

SPECS = [
    "profile-first:domain=A:max-phrases-per-user=5",
]
CHECKS = method_checks(ProfileFirst(domain="A", max_phrases_per_user=5), recount=recount_checks)


@pytest.mark.usefixtures("one_mapper")
@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_kit(check: KitCheck) -> None:
    check()
